import { setTimeout as sleep } from 'node:timers/promises';
import { InputError } from '../../domain/problems.ts';
import type { Account } from '../../gateway/account.ts';
import { acquireSlice } from '../../ledger/slices/acquire.ts';
import type { SliceQueue } from '../../ledger/slices/queue.ts';
import {
  reclaimExpiredSlices,
  reclaimSlicesOfDeadWorkers,
  returnSlice,
} from '../../ledger/slices/reclaim.ts';
import type { RunWatch } from '../../ledger/slices/watch.ts';
import { requireHashKey } from '../../ledger/suppressions/hash.ts';
import type { EngineContext } from '../context.ts';
import { pass } from '../points.ts';
import { type AccountDesks, openAccountDesks } from './account-desk.ts';
import { type Bell, openBell } from './bell.ts';
import { openCheckpointer } from './checkpointer.ts';
import { keepDuties } from './duties.ts';
import { noObserver, type Observer } from './observer.ts';
import type { Patience } from './patience.ts';
import { checkPlace } from './place.ts';
import { openRecorder } from './recorder.ts';
import { keepSession } from './session.ts';
import { openSliceDesk } from './slice-desk.ts';
import { openSlicesInHand, type SlicesInHand } from './slices-in-hand.ts';
import { openDueWindows } from './windows.ts';

export type WorkerOptions = {
  /** @throws InputError for an account that this process does not have; its slices are left to others. */
  readonly accountNamed: (name: string) => Promise<Account>;
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
  readonly watched?: string;
  readonly onWatch?: (watch: RunWatch) => void;
};

/** Most slices in one process; an account allows four at most, over the fleet. */
const mostHeld = 8;

/** Besides them, so many of urgent runs: those do not wait until a place is free. */
const mostUrgent = 2;

/** With nothing to do, the queue is looked at so often (milliseconds), besides when a notification says that there may be something. */
const idleLook = 1_000;

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
  const { patience, observer = noObserver, cutOff } = options;
  const { persist } = patience;
  await persist(() => requireHashKey(pool, ledger.hashKey));
  const place = await persist(() => checkPlace(context));
  const queue = await persist(() => ledger.queue());
  const bell = openBell();
  const accounts = openAccountDesks(context, options.accountNamed, observer);
  const checkpointer = openCheckpointer(context, patience, place.ledger);
  const recorder = openRecorder(ledger.hot, patience);
  const desk = openSliceDesk({ context, queue, patience, checkpointer, recorder, observer, cutOff });
  const { watched } = options;
  const inHand = openSlicesInHand({
    ...{ context, queue, patience, desk, observer, watched, stop },
    onUnfinished: (run) => options.onUnfinished?.(run),
    onFailed: fail,
    async onWatch(watches) {
      await accounts.lookAtBreakers();
      const watch = watched === undefined ? undefined : watches.get(watched);
      if (watch) options.onWatch?.(watch);
    },
    onFree: bell.ring,
  });

  /** Our own leases first: after an outage ours look expired, too. */
  async function renewAndReclaim(): Promise<void> {
    await inHand.renewLeases();
    await reclaimExpiredSlices(queue, pool, worker);
  }

  /** Also when there is nothing to claim: others are to hear of it. */
  async function lookAtPlace(): Promise<void> {
    const { held } = await checkPlace(context);
    if (held !== null) options.onHeld?.(held);
  }

  const ended = new AbortController();
  const closeSession = await keepSession(pool, worker, bell.ring, patience);
  const duties = keepDuties(
    [
      { every: 250, task: inHand.watch, quick: true },
      { every: 500, task: () => openDueWindows(context, queue, accounts, options.onUnknownAccount) },
      { every: 1_000, task: () => reclaimSlicesOfDeadWorkers(queue, pool, worker, now) },
      { every: 5_000, task: lookAtPlace },
      { every: 2_000, task: renewAndReclaim },
    ],
    patience,
    ended.signal,
  ).catch(fail);
  await takeSlices({ ...options, context, queue, worker, accounts, inHand, bell, stop }).catch(fail);
  await inHand.done();
  ended.abort();
  await duties;
  await closeSession();
  await accounts.close();
  if (failed.signal.aborted) throw failed.signal.reason;
}

type Taking = Pick<WorkerOptions, 'onUnknownAccount' | 'patience' | 'stop'> & {
  readonly context: EngineContext;
  readonly queue: SliceQueue;
  readonly worker: string;
  readonly accounts: AccountDesks;
  readonly inHand: SlicesInHand;
  readonly bell: Bell;
};

async function takeSlices(taking: Taking): Promise<void> {
  const { inHand, bell, stop } = taking;
  while (!stop.aborted) {
    const taken = inHand.busy() < mostHeld + mostUrgent && (await takeOne(taking));
    if (!taken) await bell.wait(idleLook, stop);
    // A worker that has slices lets others go first.
    else if (inHand.count() > 1) await sleep(5 * inHand.count());
  }
}

/** @returns false when there is none for this worker */
async function takeOne(taking: Taking): Promise<boolean> {
  const { context, queue, patience, worker, accounts, inHand } = taking;
  const { ledger, now } = context;
  const owner = context.randomUuid();
  let isRepeated = false;
  const acquisition = await patience.persist(() => {
    const taking = acquireSlice(queue, ledger.pool, {
      ...{ worker, owner, isRepeated, ignoredAccounts: accounts.unknown(), now },
      leastPriority: inHand.busy() < mostHeld ? 'bulk' : 'urgent',
    });
    isRepeated = true;
    return taking;
  });
  if (acquisition.kind !== 'held') return acquisition.kind !== 'none';
  const { slice } = acquisition;
  pass('slice acquired', slice.run);
  const account = await accounts.open(slice.account).catch((error: unknown) => {
    if (!(error instanceof InputError)) throw error;
    taking.onUnknownAccount?.(error);
  });
  if (account) inHand.begin(slice, account);
  else await patience.persist(() => returnSlice(queue, ledger.pool, slice, now()));
  return true;
}
