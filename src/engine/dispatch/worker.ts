import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { acquireSlice, type HeldSlice, touchSlices } from '../../ledger/slices/acquire.ts';
import { isCalm } from '../../ledger/slices/calm.ts';
import { finishSlice } from '../../ledger/slices/finish.ts';
import { reapDeadWorkers, takeSilentSlices } from '../../ledger/slices/reap.ts';
import { returnSlice, returnUnheard } from '../../ledger/slices/return.ts';
import { type RunWatch, watchRuns } from '../../ledger/slices/watch.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import type { AccountBreaker } from './account-breaker.ts';
import { openAccountDesks } from './account-desk.ts';
import { openBell } from './bell.ts';
import { openCheckpointer } from './checkpointer.ts';
import { keepDuties } from './duties.ts';
import { type Holding, holdSlice } from './holding.ts';
import { noObserver, type Observer } from './observer.ts';
import type { Patience } from './patience.ts';
import { checkPlace } from './place.ts';
import { openRecorder } from './recorder.ts';
import { keepSession } from './session.ts';
import { openSliceDesk } from './slice-desk.ts';
import { openDueWindows } from './windows.ts';

export type WorkerOptions = {
  /** @throws InputError for an account that this process does not have; its slices are left to others. */
  readonly accountNamed: (name: string) => Promise<Account>;
  /** Told once of each such account. */
  readonly onUnknownAccount?: (error: InputError) => void;
  /** Drains: no new request, and what is on its way is recorded. */
  readonly stop: AbortSignal;
  /** Gives up on answers that have not come. */
  readonly cutOff: AbortSignal;
  /** With a ledger that is away; when it ends, the worker does. */
  readonly patience: Patience;
  /** Called for a slice that a failure has ended: what was on its way in it may be in doubt. */
  readonly onUnfinished?: (run: string) => void;
  readonly observer?: Observer;
  /** Told each time that the ledger is found to be held, with why: nothing is sent. */
  readonly onHeld?: (reason: string) => void;
  /** A run to watch even while nothing of it is held. */
  readonly watched?: string;
  /** A few times a second, for the watched run. */
  readonly onWatch?: (watch: RunWatch) => void;
};

/** Most slices in one process; an account allows four at most, over the fleet. */
const mostHeld = 8;

/** Besides them, so many of urgent runs: those do not wait until a place is free. */
const mostUrgent = 2;

/** With nothing to do, the queue is looked at so often (milliseconds), besides when somebody says that there is something. */
const idleLook = 1_000;

/** A slice in hand, and what ends its claims. */
type InHand = {
  readonly holding: Holding;
  readonly halt: AbortController;
  readonly done: Promise<void>;
  readonly breaker: AccountBreaker;
};

/**
 * Takes slices from the queue and works them, until it is stopped. Everything it needs to know of other workers is in the
 * ledger; while that is away, it waits.
 *
 * @throws InputError when suppressions are hashed, and their key is not here
 * @throws Error when the ledger fails otherwise than by being away, or is still away when the process has to end
 */
export async function runWorker(context: EngineContext, options: WorkerOptions): Promise<void> {
  const { ledger, now } = context;
  const { pool } = ledger;
  const worker = context.randomUuid();
  const failed = new AbortController();
  const fail = (error: unknown): void => failed.abort(error);
  const stop = AbortSignal.any([options.stop, failed.signal]);
  const { patience, observer = noObserver } = options;
  const { persist } = patience;
  await persist(() => requireHashKey(pool, ledger.hashKey));
  const place = await persist(() => checkPlace(context));
  const queue = await persist(() => ledger.queue());
  const bell = openBell();
  const accounts = openAccountDesks(context, options.accountNamed, observer);
  const checkpointer = openCheckpointer(context, patience, place.ledger);
  const recorder = openRecorder(ledger.hot, patience);
  const tools = { context, queue, patience, checkpointer, recorder };
  const desk = openSliceDesk({ ...tools, observer, cutOff: options.cutOff });
  const inHand = new Set<InHand>();

  /** Those that wait for a service that refuses everything take no place from other accounts. */
  const busy = (): number => [...inHand].filter(({ breaker }) => !breaker.isOpen()).length;

  async function takeSlices(): Promise<void> {
    while (!stop.aborted) {
      const taken = busy() < mostHeld + mostUrgent && (await takeOne());
      if (!taken) await bell.wait(idleLook, stop);
      // Whoever has slices lets others go first.
      else if (inHand.size > 1) await sleep(5 * inHand.size);
    }
  }

  async function takeOne(): Promise<boolean> {
    const owner = context.randomUuid();
    let unheard = false;
    const acquisition = await persist(async () => {
      if (unheard) await returnUnheard(queue, pool, owner, now());
      unheard = true;
      return acquireSlice(queue, pool, {
        ...{ worker, owner, ignoredAccounts: accounts.unknown(), now },
        leastPriority: busy() < mostHeld ? 'bulk' : 'urgent',
      });
    });
    if (acquisition.kind !== 'held') return acquisition.kind !== 'none';
    const { slice } = acquisition;
    pass('slice acquired', slice.run);
    const account = await accounts.open(slice.account).catch((error: unknown) => {
      if (!(error instanceof InputError)) throw error;
      options.onUnknownAccount?.(error);
    });
    if (account) begin(slice, account);
    else await persist(() => returnSlice(queue, pool, slice, now()));
    return true;
  }

  function begin(slice: HeldSlice, account: Awaited<ReturnType<typeof accounts.open>>): void {
    const holding = holdSlice(slice, context.monotonic, async ({ job }) =>
      (await persist(() => touchSlices(queue, [job]))).includes(job.id),
    );
    const halt = new AbortController();
    const stopSlice = AbortSignal.any([stop, halt.signal, holding.lost]);
    const done = desk
      .work(holding, account, stopSlice)
      .catch((error: unknown) => {
        options.onUnfinished?.(slice.run);
        throw error;
      })
      .then(() =>
        persist(() =>
          finishSlice(queue, pool, slice, ...desk.planOf(slice, account.account), stopSlice.aborted, now()),
        ),
      )
      .then(() => pass('slice finished', slice.run))
      .then(() => persist(watch))
      .catch(fail)
      .finally(() => {
        inHand.delete(item);
        bell.ring();
      });
    const item = { holding, halt, done, breaker: account.breaker };
    inHand.add(item);
  }

  /** Stops slices whose run runs no longer or has to let others go first, and tells how far the watched run is. */
  async function watch(): Promise<void> {
    const runs = new Set([...inHand].map(({ holding }) => holding.slice.run));
    if (options.watched !== undefined) runs.add(options.watched);
    if (runs.size === 0) return;
    const watches = await watchRuns(pool, [...runs]);
    await accounts.lookAtBreakers();
    for (const { holding, halt } of inHand) {
      const { run, account } = holding.slice;
      const found = watches.get(run);
      if (found?.state === 'running') {
        await desk.stopIfRejected(holding.slice, found);
        if (found.overtaken) halt.abort();
      } else {
        if (!halt.signal.aborted) observer.over({ account, run, state: found?.state });
        halt.abort();
      }
    }
    const watched = options.watched === undefined ? undefined : watches.get(options.watched);
    if (watched) options.onWatch?.(watched);
  }

  /** Ours first: after a time without the ledger they are as old as those of a dead worker. */
  async function giveAndTakeSigns(): Promise<void> {
    await Promise.all([...inHand].map(({ holding }) => holding.touch()));
    if (await mayTakeFromOthers()) await takeSilentSlices(queue, pool);
  }

  async function takeFromTheDead(): Promise<void> {
    if (await mayTakeFromOthers()) await reapDeadWorkers(queue, pool, worker, now);
  }

  /** Also when there is nothing to claim: others are to hear of it. */
  async function lookAtPlace(): Promise<void> {
    const { held } = await checkPlace(context);
    if (held !== null) options.onHeld?.(held);
  }

  /** The ledger is asked in any case: that this succeeds says that it is there. */
  async function mayTakeFromOthers(): Promise<boolean> {
    return (await isCalm(pool)) && session.isSteady();
  }

  const ended = new AbortController();
  const session = await keepSession(pool, worker, bell.ring, context.monotonic, patience);
  const duties = keepDuties(
    [
      { every: 250, task: watch, quick: true },
      { every: 500, task: () => openDueWindows(context, queue, accounts, options.onUnknownAccount) },
      { every: 1_000, task: takeFromTheDead },
      { every: 5_000, task: lookAtPlace },
      { every: 2_000, task: giveAndTakeSigns },
    ],
    patience,
    ended.signal,
  ).catch(fail);
  await takeSlices().catch(fail);
  await Promise.all([...inHand].map(({ done }) => done));
  ended.abort();
  await duties;
  await session.close();
  await accounts.close();
  if (failed.signal.aborted) throw failed.signal.reason;
}
