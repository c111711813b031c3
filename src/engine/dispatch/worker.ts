import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { acquireSlice } from '../../ledger/slices/acquire.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import {
  reclaimExpiredSlices,
  reclaimSlicesOfEndedWorkers,
  returnSlice,
} from '../../ledger/slices/reclaim.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import { type AccountRuntimes, createAccountRuntimes } from './account-runtime.ts';
import { createCheckpointer } from './checkpointer.ts';
import { createHeldSlices, type HeldSlices } from './held-slices.ts';
import { checkLedgerLocation } from './ledger-location.ts';
import { noObserver, type Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import { runPeriodicTasks } from './periodic-tasks.ts';
import { createRecorder } from './recorder.ts';
import { createSliceDispatcher } from './slice-dispatcher.ts';
import { createWakeup, type Wakeup } from './wakeup.ts';
import { openDueWindows } from './windows.ts';
import { keepWorkerSession } from './worker-session.ts';

export type WorkerOptions = {
  /** @throws InputError for an account that this process lacks. Its slices are left to other workers */
  readonly accountNamed: (name: string) => Promise<Account>;
  readonly onUnknownAccount?: (error: InputError) => void;
  /** Drains: sends no new request, and records those in flight. */
  readonly stop: AbortSignal;
  /** Stops waiting for answers. */
  readonly cutOff: AbortSignal;
  /** Retries during an outage. When it gives up, the worker fails. */
  readonly outageRetry: OutageRetry;
  /** Called when a slice has failed. Its requests in flight may be in doubt. */
  readonly onSliceFailed?: (run: string) => void;
  readonly observer?: Observer;
  /** Called at each check that finds the ledger on hold, with the reason. Nothing is sent. */
  readonly onHeld?: (reason: string) => void;
  readonly watchedRun?: string;
  readonly onWatch?: (watch: DispatchProgress) => void;
};

/** Limit of slices in one process. An account allows at most four in the whole fleet. */
const maxHeld = 8;

/** Additional slices of urgent runs, which do not wait for a free one. */
const maxUrgent = 2;

/** Milliseconds between two looks at an empty queue, if no notification comes first. */
const idlePollInterval = 1_000;

/**
 * Acquires slices from the queue and sends them, until `stop`. Workers coordinate through the ledger alone; during an
 * outage the worker waits.
 *
 * @throws InputError if suppressions are hashed and the key is missing
 * @throws Error if the ledger fails, other than by an outage, or if an outage outlasts the worker
 */
export async function runWorker(context: EngineContext, options: WorkerOptions): Promise<void> {
  const { ledger, now } = context;
  const { pool } = ledger;
  const worker = context.randomUuid();
  const failed = new AbortController();
  const fail = (error: unknown): void => failed.abort(error);
  const stop = AbortSignal.any([options.stop, failed.signal]);
  const { outageRetry, observer = noObserver, cutOff } = options;
  const { retry } = outageRetry;
  await retry(() => requireHashKey(pool, ledger.hashKey));
  const location = await retry(() => checkLedgerLocation(context));
  const queue = await retry(() => ledger.queue());
  const wakeup = createWakeup();
  const accounts = createAccountRuntimes(context, options.accountNamed, observer);
  const checkpointer = createCheckpointer(context, outageRetry, location.ledger);
  const recorder = createRecorder(ledger.hot, outageRetry);
  const dispatcher = createSliceDispatcher({
    context,
    queue,
    outageRetry,
    checkpointer,
    recorder,
    observer,
    cutOff,
  });
  const { watchedRun } = options;
  const held = createHeldSlices({
    ...{ context, queue, outageRetry, dispatcher, observer, watchedRun, stop },
    onSliceFailed: (run) => options.onSliceFailed?.(run),
    onFailed: fail,
    async onWatch(watches) {
      await accounts.refreshBreakers();
      const watch = watchedRun === undefined ? undefined : watches.get(watchedRun);
      if (watch) options.onWatch?.(watch);
    },
    onFree: wakeup.signal,
  });

  /** Own leases first: after an outage they look expired, too. */
  async function renewAndReclaim(): Promise<void> {
    await held.renewLeases();
    await reclaimExpiredSlices(queue, pool, worker);
  }

  /** Also when there is nothing to claim, so that the hold is reported. */
  async function reportIfHeld(): Promise<void> {
    const { held } = await checkLedgerLocation(context);
    if (held !== null) options.onHeld?.(held);
  }

  const ended = new AbortController();
  const closeSession = await keepWorkerSession(pool, worker, wakeup.signal, outageRetry);
  const periodicTasks = runPeriodicTasks(
    [
      { interval: 250, task: held.watch, isQuery: true },
      { interval: 500, task: () => openDueWindows(context, queue, accounts, options.onUnknownAccount) },
      { interval: 1_000, task: () => reclaimSlicesOfEndedWorkers(queue, pool, worker, now) },
      { interval: 5_000, task: reportIfHeld },
      { interval: 2_000, task: renewAndReclaim },
    ],
    outageRetry,
    ended.signal,
  ).catch(fail);
  await acquireSlices({ ...options, context, queue, worker, accounts, held, wakeup, stop }).catch(fail);
  await held.whenDone();
  ended.abort();
  await periodicTasks;
  await closeSession();
  await accounts.close();
  if (failed.signal.aborted) throw failed.signal.reason;
}

type AcquireOptions = Pick<WorkerOptions, 'onUnknownAccount' | 'outageRetry' | 'stop'> & {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly worker: string;
  readonly accounts: AccountRuntimes;
  readonly held: HeldSlices;
  readonly wakeup: Wakeup;
};

async function acquireSlices(options: AcquireOptions): Promise<void> {
  const { held, wakeup, stop } = options;
  while (!stop.aborted) {
    const acquired = held.busyCount() < maxHeld + maxUrgent && (await acquireOne(options));
    if (!acquired) await wakeup.wait(idlePollInterval, stop);
    // A worker with slices lets other workers go first.
    else if (held.count() > 1) await sleep(5 * held.count());
  }
}

/** @returns false if there is none for this worker */
async function acquireOne(options: AcquireOptions): Promise<boolean> {
  const { context, queue, outageRetry, worker, accounts, held } = options;
  const { ledger, now } = context;
  const owner = context.randomUuid();
  let isRepeated = false;
  const acquisition = await outageRetry.retry(() => {
    const acquiring = acquireSlice(queue, ledger.pool, {
      ...{ worker, owner, isRepeated, ignoredAccounts: accounts.unknown(), now },
      leastPriority: held.busyCount() < maxHeld ? 'bulk' : 'urgent',
    });
    isRepeated = true;
    return acquiring;
  });
  if (acquisition.kind !== 'held') return acquisition.kind !== 'none';
  const { slice } = acquisition;
  trace('slice acquired', slice.run);
  const account = await accounts.open(slice.account).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    options.onUnknownAccount?.(error);
  });
  if (account) held.begin(slice, account);
  else await outageRetry.retry(() => returnSlice(queue, ledger.pool, slice, now()));
  return true;
}
