import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../domain/message.ts';
import type { Withholding } from '../../domain/reasons.ts';
import type { ClaimedRequest } from '../../ledger/requests/claimed.ts';
import { type OrdinaryRequest, readContents, readEnvelopes } from '../../ledger/requests/contents.ts';
import { addPlannedRows, addSendingRows, type BegunRequest } from '../../ledger/requests/rows.ts';
import { gather } from '../gather.ts';
import { withheld } from './attempt.ts';
import type { AcceptedAttempt, SliceCheckpoint } from './checkpoint.ts';
import { released } from './next-step.ts';
import { type RequestSource, refusedWait, type SourceTools } from './request-source.ts';
import { sendAgain } from './send-request.ts';
import { type Sender, settlementOf, tryOnce } from './try-once.ts';

/** Envelopes that are kept; one that all requests share is read once. */
const keptEnvelopes = 256;

/**
 * The requests of a slice that have no rows of their own: read ahead, claimed by ranges, and noted as accepted together. One
 * of which anything else is to be noted gets a row first.
 */
export function openOrdinaryRequests(tools: SourceTools, checkpoint: SliceCheckpoint): RequestSource {
  const { slice, patience, context, recorder, onSettled } = tools;
  const { pool, hot, hashKey } = context.ledger;
  const { persist } = patience;
  const envelopes = new LRUCache<number, Envelope>({ max: keptEnvelopes });
  let ahead: OrdinaryRequest[] = [];
  let epoch: string | undefined;
  let readTo = slice.claimedTo;
  let claimedTo = slice.claimedTo;
  /** The highest request of which a byte may have left. */
  let begunTo = slice.claimedTo;
  const unsent: { readonly claimed: ClaimedRequest; readonly because: Withholding }[] = [];
  const addRow = gather(
    async (begun: readonly BegunRequest[]) => {
      await persist(() => addSendingRows(pool, { ...slice, begun }));
      return begun.map(() => undefined);
    },
    { most: 64, busy: 16 },
  );

  function readAgain(): void {
    ahead = [];
    epoch = undefined;
    readTo = claimedTo;
  }

  async function readMore(): Promise<void> {
    const contents = await persist(() => readContents(hot, slice, readTo, hashKey));
    if (epoch !== undefined && contents.epoch !== epoch) return readAgain();
    if (contents.suppressed.length > 0) {
      await persist(() => addPlannedRows(pool, slice, contents.suppressed));
    }
    epoch = contents.epoch;
    ahead.push(...contents.requests);
    readTo = contents.readTo ?? slice.last;
  }

  async function loadEnvelopes(requests: readonly OrdinaryRequest[]): Promise<ReadonlyMap<number, Envelope>> {
    const loaded = new Map<number, Envelope>();
    const missing = new Set<number>();
    for (const { envelope } of requests) {
      const kept = envelopes.get(envelope);
      if (kept) loaded.set(envelope, kept);
      else missing.add(envelope);
    }
    if (missing.size === 0) return loaded;
    for (const { envelope, ...fields } of await persist(() => readEnvelopes(hot, slice.run, [...missing]))) {
      loaded.set(envelope, fields);
      envelopes.set(envelope, fields);
    }
    return loaded;
  }

  async function noteReleased(sender: Sender): Promise<void> {
    const behind = unsent.filter(({ claimed }) => claimed.request < begunTo);
    await Promise.all(
      behind.map(async ({ claimed, because }) => {
        const now = context.now();
        await addRow({ request: claimed.request, startedAt: now });
        await recorder.record(settlementOf(sender, claimed, withheld(because, 1, now), released));
      }),
    );
    if (behind.length < unsent.length) await checkpoint.giveBack({ after: claimedTo, to: begunTo });
  }

  return {
    async available(most) {
      while (ahead.length < most && readTo < slice.last) await readMore();
      return Math.min(most, ahead.length);
    },
    async claim(limit, stop) {
      const batch = ahead.slice(0, limit);
      const loaded = await loadEnvelopes(batch);
      const isLast = batch.length === ahead.length && readTo === slice.last;
      // What comes after the last ordinary request has rows of its own.
      const to = isLast ? slice.last : (batch.at(-1)?.request ?? claimedTo);
      if (!(await checkpoint.claim({ after: claimedTo, to, epoch: epoch ?? '' }))) {
        readAgain();
        await sleep(refusedWait, undefined, { signal: stop }).catch(() => undefined);
        return [];
      }
      claimedTo = to;
      ahead = ahead.slice(batch.length);
      return batch.map(({ request, messageId, envelope, destinations }): ClaimedRequest => {
        const content = loaded.get(envelope);
        if (!content) throw new Error(`run ${slice.run} has no envelope ${envelope}`);
        return { request, messageId, attempt: 1, envelope: content, destinations };
      });
    },
    async send(sender, sending) {
      const { claimed } = sending;
      const { attempt, step } = await tryOnce(sender, sending, 1).catch((error: unknown) => {
        // Nobody knows how far it came.
        begunTo = Math.max(begunTo, claimed.request);
        throw error;
      });
      const { outcome, startedAt } = attempt;
      if (outcome.kind === 'withheld') {
        unsent.push({ claimed, because: outcome.because });
        return settlementOf(sender, claimed, attempt, released);
      }
      begunTo = Math.max(begunTo, claimed.request);
      if (step.kind === 'settle' && step.as.state === 'accepted') {
        checkpoint.accept(acceptedAttempt(claimed, attempt, step.as.job));
        return settlementOf(sender, claimed, attempt, step.as);
      }
      await addRow({ request: claimed.request, startedAt });
      const settlement =
        step.kind === 'settle'
          ? settlementOf(sender, claimed, attempt, step.as)
          : await sendAgain(sender, sending, { attempt, step });
      if (settlement && (await recorder.record(settlement))) onSettled(claimed.messageId, settlement.state);
      return settlement;
    },
    async release(_sender, claimed, because) {
      unsent.push(...claimed.map((each) => ({ claimed: each, because })));
    },
    async end(sender) {
      await checkpoint.recorded();
      await noteReleased(sender);
      // All that is left has rows of its own.
      if (unsent.length === 0 && ahead.length === 0 && readTo === slice.last && claimedTo < slice.last) {
        checkpoint.hurry();
        await checkpoint.claim({ after: claimedTo, to: slice.last, epoch: epoch ?? '' });
      }
    },
  };
}

function acceptedAttempt(
  { request, messageId }: ClaimedRequest,
  {
    startedAt,
    finishedAt,
    httpStatus,
  }: { readonly startedAt: Date; readonly finishedAt: Date; readonly httpStatus: number | null },
  job: string | undefined,
): AcceptedAttempt {
  return {
    ...{ request, messageId, job },
    finishedAt: finishedAt.getTime(),
    tookMs: finishedAt.getTime() - startedAt.getTime(),
    httpStatus: httpStatus ?? 200,
  };
}
