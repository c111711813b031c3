import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Claim, ClaimedRequest } from '../../ledger/requests/claim.ts';
import { lowestPlanned } from '../../ledger/requests/lowest-planned.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import { takeBackUnheard } from '../../ledger/requests/take-back.ts';
import { pass } from '../points.ts';
import { unmade } from './attempt.ts';
import { openBell } from './bell.ts';
import type { Claimer } from './claimer.ts';
import type { Holding } from './holding.ts';
import { released } from './next-step.ts';
import type { Patience } from './patience.ts';
import type { Recorder } from './recorder.ts';
import type { FileContents, RunFiles } from './run-files.ts';
import { sendRequest } from './send-request.ts';
import { type Sender, settlementOf } from './try-once.ts';

export type SliceWork = {
  readonly holding: Holding;
  readonly sender: Sender;
  readonly patience: Patience;
  readonly claimer: Claimer;
  readonly recorder: Recorder;
  readonly files: RunFiles;
  /** Most requests in flight. */
  readonly concurrency: number;
  /** An outcome is committed. */
  readonly onSettled: (claimed: ClaimedRequest, state: Settlement['state']) => void;
  /** The service refused the credential, in its own words. */
  readonly onRefused: (words: string) => void;
  /** Whether the run is to wait no longer for a service that refuses everything. */
  readonly givesUp: () => Promise<boolean>;
};

/** How long requests are left alone that another transaction is changing (milliseconds). */
const lockedWait = 250;

/**
 * Sends the planned requests of a held slice: claims a batch, sends it, records the outcomes; the next batch is claimed
 * when all of this one are in flight. Ends when nothing is planned, when its window shuts, or when it is to stop, with
 * everything recorded that had begun.
 *
 * After a kill, every claimed request is in doubt. So a batch is no larger than the number of requests in flight, and
 * nothing is claimed while more than twice as many are not recorded; and the account's rate is asked before the claim.
 *
 * @throws Error when the ledger fails otherwise than by being away
 */
export async function workSlice(work: SliceWork): Promise<void> {
  const { patience, concurrency } = work;
  const { limiter } = work.sender;
  const { slice } = work.holding;
  const halted = new AbortController();
  const stop = AbortSignal.any([work.sender.stop, halted.signal]);
  const sender = { ...work.sender, stop };
  const inFlight = pLimit(concurrency);
  const room = openBell();
  /** Claimed, and not recorded yet, or never to be: none of them may be taken for one that was not sent. */
  const known = new Map<number, Promise<void>>();
  const hasRoom = (): boolean => inFlight.pendingCount === 0 && known.size <= 2 * concurrency;
  const lookForRoom = (): void => {
    if (hasRoom()) room.ring();
  };
  let failure: { readonly error: unknown } | undefined;
  let unheard = false;
  const onUnheard = (): void => {
    unheard = true;
  };
  let from = slice.first;

  const handle = async (claimed: ClaimedRequest, contents: FileContents, probe: boolean): Promise<void> => {
    try {
      const settlement = await inFlight(() => {
        lookForRoom();
        return sendRequest(sender, { claimed, contents, probe });
      });
      if (settlement && (await work.recorder.record(settlement))) work.onSettled(claimed, settlement.state);
      known.delete(claimed.request);
      if (
        settlement?.state === 'planned' &&
        settlement.verdict === 'unauthorized' &&
        !halted.signal.aborted
      ) {
        work.onRefused(settlement.detail ?? '');
        halted.abort();
      }
    } catch (error) {
      failure ??= { error };
      halted.abort();
    }
    lookForRoom();
  };

  try {
    for (;;) {
      while (!stop.aborted && !hasRoom()) await room.wait(1_000, stop);
      if (stop.aborted || !sender.mayLeave()) break;
      if (from > slice.last) {
        const left = await patience.persist(() =>
          lookForPlanned(work, unheard ? [...known.keys()] : undefined),
        );
        if (left === undefined) break;
        // Another transaction is changing it: that of a dead holder, or ours on a connection that was lost.
        await sleep(lockedWait, undefined, { signal: stop }).catch(() => undefined);
        from = left;
        continue;
      }
      const entry = await mayEnter(work, stop);
      if (entry === 'no') break;
      const probe = entry === 'probe';
      // What is not there is not waited for: at a low rate, a slice would end late.
      const wanted = probe ? 1 : Math.min(concurrency, slice.last - from + 1);
      const admitted = await patience.persist(() => limiter.admit(wanted, stop), stop);
      if (admitted === 0 || !sender.mayLeave()) {
        await patience.persist(() => limiter.spend({ admitted, claimed: 0, recipients: 0 }));
        if (probe) await patience.persist(async () => sender.breaker?.notTried());
        break;
      }
      const { claimed, cancelled } = await claimPatiently(work, from, admitted, [...known.keys()], onUnheard);
      const recipients = claimed.reduce((sum, { destinations }) => sum + destinations.length, 0);
      await patience.persist(() => limiter.spend({ admitted, claimed: claimed.length, recipients }));
      const highest = Math.max(0, ...[...claimed, ...cancelled].map(({ request }) => request));
      from = highest === 0 ? slice.last + 1 : highest + 1;
      const contents = await loadOrRelease(work, claimed);
      if (probe && claimed.length === 0) await patience.persist(async () => sender.breaker?.notTried());
      for (const request of claimed) known.set(request.request, handle(request, contents, probe));
    }
  } finally {
    await Promise.all(known.values());
  }
  if (failure) throw failure.error;
  // What Postgres committed after the last look, on a connection that was lost, is `sending`, and is planned again.
  if (unheard) await patience.persist(() => takeBack(work, []));
}

/** Waits while the service refuses everything. @returns `probe`: one request may try it again */
async function mayEnter(
  { sender, patience, givesUp }: SliceWork,
  stop: AbortSignal,
): Promise<'all' | 'probe' | 'no'> {
  while (!stop.aborted) {
    const { breaker } = sender;
    if (!breaker) return 'all';
    const entry = await patience.persist(breaker.enter);
    if (typeof entry === 'string') return entry;
    const signal = AbortSignal.any([stop, breaker.change()]);
    if (!sender.mayLeave() || (await patience.persist(givesUp))) return 'no';
    await sleep(entry, undefined, { signal }).catch(() => undefined);
  }
  return 'no';
}

/** A claim that was committed though its answer was lost is taken back before it is tried again. */
async function claimPatiently(
  work: SliceWork,
  from: number,
  limit: number,
  known: readonly number[],
  onUnheard: () => void,
): Promise<Claim> {
  const { slice } = work.holding;
  let tries = 0;
  pass('claiming', slice.run);
  const claim = await work.patience.persist(async () => {
    if (++tries > 1) {
      onUnheard();
      await takeBack(work, known);
    }
    return work.claimer.claim({ ...slice, from, limit });
  });
  pass('claimed', slice.run);
  return claim;
}

/**
 * The lowest request that a claim passes by, though it is planned.
 *
 * @param known where a claim was committed unheard, what to leave as it is when the rest is taken back
 */
async function lookForPlanned(work: SliceWork, known?: readonly number[]): Promise<number | undefined> {
  if (known) await takeBack(work, known);
  return lowestPlanned(work.sender.context.ledger.pool, work.holding.slice);
}

function takeBack({ holding: { slice }, sender: { context } }: SliceWork, known: readonly number[]) {
  return takeBackUnheard(context.ledger.pool, slice, slice.owner, known, context.now());
}

/** Requests whose files cannot be loaded are given back: left as `sending`, they would be in doubt, with no byte sent. */
async function loadOrRelease(
  { sender, files, patience, recorder }: SliceWork,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await patience.persist(() => files.load(claimed));
  } catch (error) {
    const detail = 'its files could not be read from the ledger';
    const settlements = claimed.map((request) => {
      const unsent = unmade('withheld', request.attempt, detail, sender.context.now());
      return settlementOf(sender, request, unsent, released);
    });
    // Where this fails too, why it began is told, and they are in doubt after all.
    await Promise.allSettled(settlements.map((settlement) => recorder.record(settlement)));
    throw error;
  }
}
