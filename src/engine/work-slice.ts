import pLimit from 'p-limit';
import { type Claim, type ClaimedRequest, claimRequests } from '../ledger/requests/claim.ts';
import type { Settlement } from '../ledger/requests/settle.ts';
import { takeBackUnheard } from '../ledger/requests/take-back.ts';
import type { Holding } from './holding.ts';
import type { Patience } from './patience.ts';
import { pass } from './points.ts';
import type { RateLimiter } from './rate-limit.ts';
import type { Recorder } from './recorder.ts';
import type { FileContents, RunFiles } from './run-files.ts';
import { released, type Sender, sendRequest } from './send-request.ts';

export type SliceWork = {
  readonly holding: Holding;
  readonly sender: Sender;
  readonly patience: Patience;
  readonly recorder: Recorder;
  readonly limiter: RateLimiter;
  readonly files: RunFiles;
  /** Most requests in flight. */
  readonly concurrency: number;
  /** The service refused the credential, in its own words. */
  readonly onRefused: (words: string) => void;
};

/**
 * Sends the planned requests of a held slice: claims a batch, sends it, records the outcomes; the next batch is claimed
 * while this one is in flight. Ends when nothing is left to claim, or when it is to stop, with everything recorded that
 * had begun.
 *
 * A batch is no larger than the number of requests in flight: after a kill, every claimed request is in doubt, so no
 * more are claimed than can be sent at once. The account's rate is asked before the claim, for the same reason.
 *
 * @throws Error when the ledger fails otherwise than by being away
 */
export async function workSlice(work: SliceWork): Promise<void> {
  const { limiter, patience, concurrency } = work;
  const { slice } = work.holding;
  const refused = new AbortController();
  const stop = AbortSignal.any([work.sender.stop, refused.signal]);
  const sender = { ...work.sender, stop };
  const inFlight = pLimit(concurrency);
  /** Claimed, and not recorded yet. */
  const known = new Set<number>();
  let from = slice.first;

  const send = async (claimed: ClaimedRequest, contents: FileContents): Promise<Settlement | undefined> => {
    const settlement = await sendRequest(sender, claimed, contents);
    if (isRefusal(settlement)) refused.abort();
    return settlement;
  };
  let isTold = false;
  // While an outcome is being recorded, another request is in flight.
  const handle = async (claimed: ClaimedRequest, contents: FileContents): Promise<void> => {
    const settlement = await inFlight(() => send(claimed, contents));
    if (settlement) await work.recorder.record(settlement);
    known.delete(claimed.request);
    if (!isRefusal(settlement) || isTold) return;
    isTold = true;
    work.onRefused(settlement.detail ?? '');
  };

  const batches: Promise<unknown>[] = [];
  try {
    while (!stop.aborted) {
      const admitted = await patience.persist(() => limiter.admit(concurrency, stop));
      if (admitted === 0) break;
      const { claimed, cancelled } = await claimPatiently(work, from, admitted, known);
      const recipients = claimed.reduce((sum, { destinations }) => sum + destinations.length, 0);
      await patience.persist(() => limiter.spend({ admitted, claimed: claimed.length, recipients }));
      const highest = Math.max(0, ...[...claimed, ...cancelled].map(({ request }) => request));
      if (highest === 0) break;
      from = highest + 1;
      const contents = await loadOrRelease(work, claimed);
      const batch = Promise.all(claimed.map((request) => handle(request, contents)));
      // A failed batch is met where it is awaited; until then it must not count as unhandled.
      batch.catch(() => undefined);
      batches.push(batch);
      if (batches.length === 2) await batches.shift();
    }
  } finally {
    await Promise.allSettled(batches);
  }
  await Promise.all(batches);
}

/** The service does not take the credential, so it would take no other request either. */
function isRefusal(settlement: Settlement | undefined): settlement is Settlement {
  return settlement?.state === 'planned' && settlement.verdict === 'unauthorized';
}

/** A claim that was committed though its answer was lost is taken back before it is tried again. */
async function claimPatiently(
  { holding: { slice }, sender: { context }, patience }: SliceWork,
  from: number,
  limit: number,
  known: Set<number>,
): Promise<Claim> {
  const { pool, hot } = context.ledger;
  let unheard = false;
  pass('claiming', slice.run);
  const claim = await patience.persist(async () => {
    if (unheard) await takeBackUnheard(pool, slice, slice.owner, [...known], context.now());
    unheard = true;
    return claimRequests(hot, { ...slice, from, limit, now: context.now() });
  });
  for (const { request } of claim.claimed) known.add(request);
  pass('claimed', slice.run);
  return claim;
}

/** Requests whose files cannot be loaded are given back: left as `sending`, they would be in doubt, with no byte sent. */
async function loadOrRelease(
  { sender: { context, run, slice, owner }, files, patience, recorder }: SliceWork,
  claimed: readonly ClaimedRequest[],
): Promise<FileContents> {
  try {
    return await patience.persist(() => files.load(claimed));
  } catch (error) {
    const detail = 'its files could not be read from the ledger';
    const settlements = claimed.map(({ request, attempt }) => ({
      ...{ run, slice, owner, request },
      ...released(attempt, detail, context.now()),
    }));
    // Where this fails too, why it began is told, and they are in doubt after all.
    await Promise.allSettled(settlements.map((settlement) => recorder.record(settlement)));
    throw error;
  }
}
