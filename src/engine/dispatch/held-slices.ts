import { type HeldSlice, renewLeases } from '../../ledger/slices/acquire.ts';
import { finishSlice } from '../../ledger/slices/finish.ts';
import { type DispatchProgress, readDispatchProgress } from '../../ledger/slices/progress.ts';
import { maxHoldMilliseconds, type SliceQueue } from '../../ledger/slices/queue.ts';
import type { EngineContext } from '../context.ts';
import { trace } from '../trace-points.ts';
import type { AccountRuntime } from './account-runtime.ts';
import { createLease, type Lease } from './lease.ts';
import type { Observer } from './observer.ts';
import type { OutageRetry } from './outage-retry.ts';
import type { SliceDispatcher } from './slice-dispatcher.ts';

export type HeldSlices = {
  readonly count: () => number;
  /** Without slices whose service refuses every request, so that these take no capacity from other accounts. */
  readonly busyCount: () => number;
  readonly begin: (slice: HeldSlice, account: AccountRuntime) => void;
  /** Stops slices whose run is not running or is preempted. */
  readonly watch: () => Promise<void>;
  readonly renewLeases: () => Promise<void>;
  readonly whenDone: () => Promise<void>;
};

type HeldSlicesOptions = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly outageRetry: OutageRetry;
  readonly dispatcher: SliceDispatcher;
  readonly observer: Observer;
  /** Watched even while none of its slices is held. */
  readonly watchedRun: string | undefined;
  readonly stop: AbortSignal;
  readonly onSliceFailed: (run: string) => void;
  readonly onFailed: (error: unknown) => void;
  readonly onProgress: (progress: ReadonlyMap<string, DispatchProgress>) => Promise<void>;
  readonly onFree: () => void;
};

type SliceRuntime = {
  readonly slice: HeldSlice;
  readonly lease: Lease;
  readonly heldSince: number;
  readonly halt: AbortController;
  readonly account: AccountRuntime;
  readonly done: Promise<void>;
};

export function createHeldSlices(options: HeldSlicesOptions): HeldSlices {
  const { context, queue, outageRetry, dispatcher, watchedRun, stop } = options;
  const { retry } = outageRetry;
  const { ledger, monotonic, now } = context;
  const held = new Set<SliceRuntime>();

  async function work(
    slice: HeldSlice,
    account: AccountRuntime,
    lease: Lease,
    stopSlice: AbortSignal,
  ): Promise<void> {
    try {
      await dispatcher.dispatch(slice, lease, account, stopSlice);
    } catch (error) {
      options.onSliceFailed(slice.run);
      throw error;
    }
    const { plan, policy } = dispatcher.settingsOf(slice, account.account);
    await retry(() =>
      finishSlice(queue, ledger.pool, slice, { plan, policy, interrupted: stopSlice.aborted, now: now() }),
    );
    trace('slice finished', slice.run);
    await retry(watch);
  }

  async function watch(): Promise<void> {
    const runs = new Set([...held].map(({ slice }) => slice.run));
    if (watchedRun !== undefined) runs.add(watchedRun);
    if (runs.size === 0) return;
    const progress = await readDispatchProgress(ledger.pool, [...runs]);
    await options.onProgress(progress);
    for (const item of held) await stopUnlessWanted(options, item, progress.get(item.slice.run));
  }

  return {
    count: () => held.size,
    busyCount: () => [...held].filter(({ account }) => !account.breaker.isOpen()).length,
    begin(slice, account) {
      const { job } = slice;
      const lease = createLease(context, async () =>
        (await retry(() => renewLeases(queue, [job]))).includes(job.id),
      );
      const halt = new AbortController();
      const done = work(slice, account, lease, AbortSignal.any([stop, halt.signal, lease.lost]))
        .catch(options.onFailed)
        .finally(() => {
          held.delete(item);
          options.onFree();
        });
      const item = { slice, lease, heldSince: monotonic(), halt, account, done };
      held.add(item);
    },
    watch,
    async renewLeases() {
      await Promise.all([...held].map(({ lease }) => lease.renew()));
    },
    async whenDone() {
      await Promise.all([...held].map(({ done }) => done));
    },
  };
}

async function stopUnlessWanted(
  { context, dispatcher, observer }: Pick<HeldSlicesOptions, 'context' | 'dispatcher' | 'observer'>,
  { slice, halt, heldSince }: SliceRuntime,
  found: DispatchProgress | undefined,
): Promise<void> {
  const { run, account } = slice;
  if (found?.state === 'running') {
    await dispatcher.stopIfRejected(slice, found);
    if (found.preemptedBy !== null || context.monotonic() - heldSince > maxHoldMilliseconds) halt.abort();
    return;
  }
  if (!halt.signal.aborted) observer.runEnded({ account, run, state: found?.state });
  halt.abort();
}
