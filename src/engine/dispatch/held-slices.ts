import { setTimeout as sleep } from 'node:timers/promises';
import { acquireSlice, type HeldSlice, renewLeases } from '../../ledger/slices/acquire.ts';
import { finishSlice } from '../../ledger/slices/finish.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { maxHoldMilliseconds } from '../../ledger/slices/queue.ts';
import { returnSlice } from '../../ledger/slices/reclaim.ts';
import { trace } from '../trace-points.ts';
import type { AccountRuntime, AccountRuntimes } from './account-runtime.ts';
import { dispatchSettings } from './dispatch-settings.ts';
import { createSliceDispatcher, type Dispatch, stopIfRejected } from './dispatch-slice.ts';
import { createLease, type Lease } from './lease.ts';
import type { Wakeup } from './wakeup.ts';

/** Limit of slices in one process. An account allows at most four in the whole fleet. */
const maxHeld = 8;

/** Additional slices of urgent runs. */
const maxUrgent = 2;

/** Milliseconds between two looks at an empty queue. */
const idlePollInterval = 1_000;

export type HeldSlices = ReturnType<typeof createHeldSlices>;

export type HeldSlicesOptions = Dispatch & {
  readonly worker: string;
  readonly accounts: AccountRuntimes;
  readonly stop: AbortSignal;
  /** Signalled when a slice may be in the queue, or one is no longer held. */
  readonly wakeup: Wakeup;
  /** Called when sending a slice failed; some of its requests may be in doubt. */
  readonly onSliceFailed?: (run: string) => void;
  readonly onFailed: (error: unknown) => void;
  /** Watched even while none of its slices is held. */
  readonly watchedRun?: string;
  readonly onProgress?: (progress: DispatchProgress) => void;
};

type SliceRuntime = {
  readonly slice: HeldSlice;
  readonly lease: Lease;
  readonly heldSince: number;
  readonly halt: AbortController;
  readonly account: AccountRuntime;
  readonly done: Promise<void>;
};

export function createHeldSlices(options: HeldSlicesOptions) {
  const { context, queue, outageRetry, watchedRun, stop, wakeup } = options;
  const { retry } = outageRetry;
  const { ledger, monotonic, now } = context;
  const dispatchSlice = createSliceDispatcher(options);
  const held = new Set<SliceRuntime>();
  /** Without slices whose service refuses every request, so that these take no capacity from other accounts. */
  const busyCount = (): number => [...held].filter(({ account }) => !account.breaker.isOpen()).length;

  async function work(
    slice: HeldSlice,
    runtime: AccountRuntime,
    lease: Lease,
    halted: AbortSignal,
  ): Promise<void> {
    const settings = dispatchSettings(slice.run, runtime.account, slice.definition);
    try {
      await dispatchSlice({ ...runtime, slice, settings, lease, stop: halted });
    } catch (error) {
      options.onSliceFailed?.(slice.run);
      throw error;
    }
    await retry(() =>
      finishSlice(queue, ledger.pool, slice, { ...settings, interrupted: halted.aborted, now: now() }),
    );
    trace('slice finished', slice.run);
    await retry(watch);
  }

  function begin(slice: HeldSlice, account: AccountRuntime): void {
    const { job } = slice;
    const lease = createLease(context, async () =>
      (await retry(() => renewLeases(queue, [job]))).includes(job.id),
    );
    const halt = new AbortController();
    const done = work(slice, account, lease, AbortSignal.any([stop, halt.signal, lease.lost]))
      .catch(options.onFailed)
      .finally(() => {
        held.delete(item);
        wakeup.signal();
      });
    const item = { slice, lease, heldSince: monotonic(), halt, account, done };
    held.add(item);
  }

  /** Stops slices whose run is not running or is preempted. */
  async function watch(): Promise<void> {
    const runs = new Set([...held].map(({ slice }) => slice.run));
    if (watchedRun !== undefined) runs.add(watchedRun);
    if (runs.size === 0) return;
    const progress = await readDispatchProgress(ledger.pool, [...runs]);
    await options.accounts.refreshBreakers();
    const watched = watchedRun === undefined ? undefined : progress.get(watchedRun);
    if (watched) options.onProgress?.(watched);
    for (const item of held) await stopUnlessWanted(options, item, progress.get(item.slice.run));
  }

  return {
    /** Acquires slices and begins them, until `stop`. */
    async acquire(): Promise<void> {
      while (!stop.aborted) {
        const busy = busyCount();
        const minPriority = busy < maxHeld ? 'bulk' : 'urgent';
        const acquired = busy < maxHeld + maxUrgent && (await acquireOne(options, minPriority, begin));
        if (!acquired) await wakeup.wait(idlePollInterval, stop);
        // A worker with slices lets other workers go first.
        else if (held.size > 1) await sleep(5 * held.size);
      }
    },
    watch,
    async renewLeases(): Promise<void> {
      await Promise.all([...held].map(({ lease }) => lease.renew()));
    },
    async whenDone(): Promise<void> {
      await Promise.all([...held].map(({ done }) => done));
    },
  };
}

async function acquireOne(
  { context, queue, outageRetry, worker, accounts }: HeldSlicesOptions,
  minPriority: 'bulk' | 'urgent',
  begin: (slice: HeldSlice, account: AccountRuntime) => void,
): Promise<boolean> {
  const { ledger, now } = context;
  const owner = context.randomUuid();
  let isRetry = false;
  const acquisition = await outageRetry.retry(async () => {
    if (isRetry) await returnSlice(queue, ledger.pool, { owner }, now());
    isRetry = true;
    return acquireSlice(queue, ledger.pool, {
      worker,
      owner,
      ignoredAccounts: accounts.unknown(),
      now,
      minPriority,
    });
  });
  if (acquisition.kind !== 'held') return acquisition.kind !== 'none';
  const { slice } = acquisition;
  trace('slice acquired', slice.run);
  const account = await accounts.open(slice.account);
  if (account) begin(slice, account);
  else await outageRetry.retry(() => returnSlice(queue, ledger.pool, { owner }, now()));
  return true;
}

async function stopUnlessWanted(
  dispatch: Dispatch,
  { slice, halt, heldSince }: SliceRuntime,
  found: DispatchProgress | undefined,
): Promise<void> {
  const { run, account } = slice;
  if (found?.state === 'running') {
    await stopIfRejected(dispatch, slice, found);
    const isHeldTooLong = dispatch.context.monotonic() - heldSince > maxHoldMilliseconds;
    if (found.preemptedBy !== null || isHeldTooLong) halt.abort();
    return;
  }
  if (!halt.signal.aborted) dispatch.observer.runEnded?.({ account, run, state: found?.state });
  halt.abort();
}
