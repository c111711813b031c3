import { setTimeout as sleep } from 'node:timers/promises';
import type { InputError } from '../../domain/problems.ts';
import type { Ledger } from '../../ledger/connection.ts';
import type { SlicePlan } from '../../ledger/slices/enqueue.ts';
import type { DispatchProgress } from '../../ledger/slices/progress.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import { reclaimExpiredSlices, reclaimSlicesOfEndedWorkers } from '../../ledger/slices/reclaim.ts';
import { openWorkerSession } from '../../ledger/slices/worker-session.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import type { WatchedRun } from '../../ledger/watch/watches.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { watchRuns } from '../watch/watch-runs.ts';
import { type AccountRuntimes, createAccountRuntimes } from './account-runtime.ts';
import { createRecorder } from './checkpoint.ts';
import { createCheckpointer } from './checkpointer.ts';
import { dispatchSettings } from './dispatch-settings.ts';
import { createHeldSlices, type HeldSlices } from './held-slices.ts';
import { checkLedgerLocation } from './ledger-location.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import { createWakeup } from './wakeup.ts';
import { openDueWindows } from './windows.ts';

export type WorkerOptions = {
  readonly accountNamed: AccountNamed;
  readonly onUnknownAccount?: (error: InputError) => void;
  /** Drains the worker. */
  readonly stop: AbortSignal;
  /** When aborted, requests in flight are abandoned. */
  readonly cutOff: AbortSignal;
  readonly outageRetry: OutageRetry;
  /** Called when sending a slice failed; some of its requests may be in doubt. */
  readonly onSliceFailed?: (run: string) => void;
  readonly observer?: Partial<Observer>;
  /** Called at each check that finds the ledger on hold. */
  readonly onHold?: (reason: string) => void;
  readonly watchedRun?: string;
  readonly onProgress?: (progress: DispatchProgress) => void;
};

/**
 * Acquires slices and sends them until `stop`. Workers coordinate through the ledger alone.
 *
 * @throws InputError if suppressions are hashed and the key is missing
 * @throws Error if the ledger fails, or the process must end during an outage
 */
export async function runWorker(context: EngineContext, options: WorkerOptions): Promise<void> {
  const { ledger } = context;
  const { outageRetry, observer = {} } = options;
  const { retry } = outageRetry;
  const worker = context.randomUuid();
  const failed = new AbortController();
  const fail = (error: unknown): void => failed.abort(error);
  const stop = AbortSignal.any([options.stop, failed.signal]);
  await retry(() => requireHashKey(ledger.pool, ledger.hashKey));
  const location = await retry(() => checkLedgerLocation(context));
  const queue = await retry(() => ledger.queue());
  const wakeup = createWakeup();
  const accounts = createAccountRuntimes(context, { ...options, observer });
  const held = createHeldSlices({
    context,
    queue,
    outageRetry,
    checkpointer: createCheckpointer(context, outageRetry, location.ledger),
    record: createRecorder(ledger.hot, outageRetry),
    observer,
    cutOff: options.cutOff,
    worker,
    accounts,
    watchedRun: options.watchedRun,
    stop,
    wakeup,
    onSliceFailed: (run) => options.onSliceFailed?.(run),
    onFailed: fail,
    onProgress: (progress) => onProgress(options, accounts, progress),
  });
  const ended = new AbortController();
  const closeSession = await keepWorkerSession(ledger.pool, worker, wakeup.signal, outageRetry);
  const tasks = periodicTasks(context, options, { worker, queue, accounts, held });
  const running = runPeriodicTasks(tasks, outageRetry, ended.signal).catch(fail);
  await held.acquire().catch(fail);
  await held.whenDone();
  ended.abort();
  await running;
  await closeSession();
  await accounts.close();
  if (failed.signal.aborted) throw failed.signal.reason;
}

async function onProgress(
  options: Pick<WorkerOptions, 'watchedRun' | 'onProgress'>,
  accounts: AccountRuntimes,
  progress: ReadonlyMap<string, DispatchProgress>,
): Promise<void> {
  await accounts.refreshBreakers();
  const watched = options.watchedRun === undefined ? undefined : progress.get(options.watchedRun);
  if (watched) options.onProgress?.(watched);
}

type Parts = {
  readonly worker: string;
  readonly queue: SliceQueue;
  readonly accounts: AccountRuntimes;
  readonly held: HeldSlices;
};

function periodicTasks(
  context: EngineContext,
  { onHold }: Pick<WorkerOptions, 'onHold'>,
  { worker, queue, accounts, held }: Parts,
): PeriodicTask[] {
  const { pool } = context.ledger;

  /** Renews our own leases first, because after an outage they look expired too. */
  async function renewAndReclaim(): Promise<void> {
    await held.renewLeases();
    await reclaimExpiredSlices(queue, pool, worker);
  }

  /** Runs also while there is nothing to claim, so that an operator learns of a hold. */
  async function reportIfOnHold(): Promise<void> {
    const { onHold: reason } = await checkLedgerLocation(context);
    if (reason !== null) onHold?.(reason);
  }

  async function planOf({ run, account, definition }: WatchedRun): Promise<SlicePlan | undefined> {
    const runtime = await accounts.open(account);
    return runtime && dispatchSettings(run, runtime.account, definition).plan;
  }

  return [
    { interval: 250, task: held.watch, isQuery: true },
    { interval: 500, task: () => openDueWindows(context, queue, accounts) },
    { interval: 1_000, task: () => watchRuns(context, queue, accounts.unknown(), planOf) },
    { interval: 1_000, task: () => reclaimSlicesOfEndedWorkers(queue, pool, worker, context.now) },
    { interval: 5_000, task: reportIfOnHold },
    { interval: 2_000, task: renewAndReclaim },
  ];
}

type PeriodicTask = {
  readonly interval: number;
  readonly task: () => Promise<unknown>;
  /** As `OutageRetry.query`. */
  readonly isQuery?: boolean;
};

/**
 * Resolves when the signal has aborted and no task is running.
 *
 * @throws Error the first failure of a task, other than an outage
 */
async function runPeriodicTasks(
  tasks: readonly PeriodicTask[],
  { retry, query }: OutageRetry,
  end: AbortSignal,
): Promise<void> {
  await Promise.all(
    tasks.map(async ({ interval, task, isQuery }) => {
      while (!end.aborted) {
        await (isQuery ? query(task) : retry(task));
        await sleep(interval, undefined, { signal: end }).catch(() => undefined);
      }
    }),
  );
}

/** Replaces a lost session. @returns closes the session */
async function keepWorkerSession(
  pool: Ledger['pool'],
  worker: string,
  onWake: () => void,
  { retry }: OutageRetry,
): Promise<() => Promise<void>> {
  const open = (isAgain: boolean) => retry(() => openWorkerSession(pool, worker, onWake, isAgain));
  const closing = Promise.withResolvers<'closing'>();
  let session = await open(false);

  async function keep(): Promise<void> {
    for (;;) {
      const end = await Promise.race([session.lost, closing.promise]);
      await retry(() => session.close());
      if (end === 'closing') return;
      session = await open(true);
      // A notification may have been missed.
      onWake();
    }
  }

  // It rejects only when the process must end.
  const kept = keep().catch(() => undefined);
  return () => {
    closing.resolve('closing');
    return kept;
  };
}
