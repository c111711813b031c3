import { setTimeout as sleep } from 'node:timers/promises';
import type { InputError } from '../../domain/problems.ts';
import type { Ledger } from '../../ledger/connection.ts';
import type { SlicePlan } from '../../ledger/slices/enqueue.ts';
import { reclaimExpiredSlices, reclaimSlicesOfEndedWorkers } from '../../ledger/slices/reclaim.ts';
import { openWorkerSession } from '../../ledger/slices/worker-session.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import type { WatchedRun } from '../../ledger/watch/watches.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { watchRuns } from '../watch/watch-runs.ts';
import { createAccountRuntimes } from './account-runtime.ts';
import { createRecorder } from './checkpoint.ts';
import { createCheckpointer } from './checkpointer.ts';
import { dispatchSettings } from './dispatch-settings.ts';
import { createHeldSlices, type HeldSlices, type HeldSlicesOptions } from './held-slices.ts';
import { checkLedgerLocation } from './ledger-location.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import { createWakeup } from './wakeup.ts';
import { openDueWindows } from './windows.ts';

export type WorkerOptions = Pick<
  HeldSlicesOptions,
  'outageRetry' | 'cutOff' | 'watchedRun' | 'onSliceFailed' | 'onProgress'
> & {
  readonly accountNamed: AccountNamed;
  readonly onUnknownAccount?: (error: InputError) => void;
  readonly stop: AbortSignal;
  readonly observer?: Partial<Observer>;
  /** Called at each check that finds the ledger on hold. */
  readonly onHold?: (reason: string) => void;
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
  const wakeup = createWakeup();
  const dispatch = {
    ...options,
    context,
    worker,
    queue: await retry(() => ledger.queue()),
    accounts: createAccountRuntimes(context, { ...options, observer }),
    checkpointer: createCheckpointer(context, outageRetry, location.ledger),
    record: createRecorder(ledger.hot, outageRetry),
    observer,
    stop,
    wakeup,
    onFailed: fail,
  };
  const held = createHeldSlices(dispatch);
  const ended = new AbortController();
  const closeSession = await keepWorkerSession(ledger.pool, worker, wakeup.signal, outageRetry);
  const running = runPeriodicTasks(periodicTasks(dispatch, held), outageRetry, ended.signal).catch(fail);
  await held.acquire().catch(fail);
  await held.whenDone();
  ended.abort();
  await running;
  await closeSession();
  await dispatch.accounts.close();
  if (failed.signal.aborted) throw failed.signal.reason;
}

function periodicTasks(
  { context, queue, worker, accounts, observer, onHold }: HeldSlicesOptions & Pick<WorkerOptions, 'onHold'>,
  held: HeldSlices,
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

  async function watch(): Promise<void> {
    const decided = await watchRuns(context, queue, accounts.unknown(), planOf);
    for (const each of decided) observer.decided?.(each);
  }

  return [
    { interval: 250, task: held.watch, isQuery: true },
    { interval: 500, task: () => openDueWindows(context, queue, accounts) },
    { interval: 1_000, task: watch },
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
