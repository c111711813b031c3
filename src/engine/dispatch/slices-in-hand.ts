import { type HeldSlice, renewLeases } from '../../ledger/slices/acquire.ts';
import { finishSlice } from '../../ledger/slices/finish.ts';
import { longestHolding, type SliceQueue } from '../../ledger/slices/queue.ts';
import { type RunWatch, watchRuns } from '../../ledger/slices/watch.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import type { AccountDesk } from './account-desk.ts';
import { type Lease, openLease } from './lease.ts';
import type { Observer } from './observer.ts';
import type { Patience } from './patience.ts';
import type { SliceDesk } from './slice-desk.ts';

export type SlicesInHand = {
  readonly count: () => number;
  /** Without those that wait for a service that refuses everything: they take no place from other accounts. */
  readonly busy: () => number;
  readonly begin: (slice: HeldSlice, account: AccountDesk) => void;
  /** Stops slices whose run runs no longer or has to let others go first. */
  readonly watch: () => Promise<void>;
  readonly renewLeases: () => Promise<void>;
  readonly done: () => Promise<void>;
};

export type SlicesInHandOptions = {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly patience: Patience;
  readonly desk: SliceDesk;
  readonly observer: Observer;
  /** A run to watch even while nothing of it is held. */
  readonly watched: string | undefined;
  readonly stop: AbortSignal;
  /** Called for a slice that a failure has ended. */
  readonly onUnfinished: (run: string) => void;
  readonly onFailed: (error: unknown) => void;
  readonly onWatch: (watches: ReadonlyMap<string, RunWatch>) => Promise<void>;
  readonly onFree: () => void;
};

type InHand = {
  readonly slice: HeldSlice;
  readonly lease: Lease;
  readonly heldSince: number;
  readonly halt: AbortController;
  readonly account: AccountDesk;
  readonly done: Promise<void>;
};

export function openSlicesInHand(options: SlicesInHandOptions): SlicesInHand {
  const { context, queue, patience, desk, watched, stop } = options;
  const { persist } = patience;
  const { ledger, monotonic, now } = context;
  const inHand = new Set<InHand>();

  async function work(
    slice: HeldSlice,
    account: AccountDesk,
    lease: Lease,
    stopSlice: AbortSignal,
  ): Promise<void> {
    try {
      await desk.work(slice, lease, account, stopSlice);
    } catch (error) {
      options.onUnfinished(slice.run);
      throw error;
    }
    const plan = desk.planOf(slice, account.account);
    await persist(() => finishSlice(queue, ledger.pool, slice, ...plan, stopSlice.aborted, now()));
    pass('slice finished', slice.run);
    await persist(watch);
  }

  async function watch(): Promise<void> {
    const runs = new Set([...inHand].map(({ slice }) => slice.run));
    if (watched !== undefined) runs.add(watched);
    if (runs.size === 0) return;
    const watches = await watchRuns(ledger.pool, [...runs]);
    await options.onWatch(watches);
    for (const item of inHand) await stopUnlessWanted(options, item, watches.get(item.slice.run));
  }

  return {
    count: () => inHand.size,
    busy: () => [...inHand].filter(({ account }) => !account.breaker.isOpen()).length,
    begin(slice, account) {
      const { job } = slice;
      const lease = openLease(context, async () =>
        (await persist(() => renewLeases(queue, [job]))).includes(job.id),
      );
      const halt = new AbortController();
      const done = work(slice, account, lease, AbortSignal.any([stop, halt.signal, lease.lost]))
        .catch(options.onFailed)
        .finally(() => {
          inHand.delete(item);
          options.onFree();
        });
      const item = { slice, lease, heldSince: monotonic(), halt, account, done };
      inHand.add(item);
    },
    watch,
    async renewLeases() {
      await Promise.all([...inHand].map(({ lease }) => lease.renew()));
    },
    async done() {
      await Promise.all([...inHand].map(({ done }) => done));
    },
  };
}

async function stopUnlessWanted(
  { context, desk, observer }: Pick<SlicesInHandOptions, 'context' | 'desk' | 'observer'>,
  { slice, halt, heldSince }: InHand,
  found: RunWatch | undefined,
): Promise<void> {
  const { run, account } = slice;
  if (found?.state === 'running') {
    await desk.stopIfRejected(slice, found);
    if (found.overtaken || context.monotonic() - heldSince > longestHolding) halt.abort();
    return;
  }
  if (!halt.signal.aborted) observer.over({ account, run, state: found?.state });
  halt.abort();
}
