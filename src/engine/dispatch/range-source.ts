import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../domain/message.ts';
import type { WithheldCause } from '../../domain/reasons.ts';
import { addPlannedRows, addSendingRows, type StartedRequest } from '../../ledger/requests/add-rows.ts';
import type { ClaimedRequest } from '../../ledger/requests/claimed-request.ts';
import { type OrdinaryRequest, readContents, readEnvelopes } from '../../ledger/requests/read-contents.ts';
import { coalesce } from '../coalesce.ts';
import { withheldAttempt } from './attempt.ts';
import { attemptOnce, type Sender, settlementOf } from './attempt-once.ts';
import type { AcceptedAttempt, SliceCheckpoint } from './checkpoint.ts';
import { released } from './next-step.ts';
import { type RequestSource, refusedClaimWait, type SourceContext } from './request-source.ts';
import { retryRequest } from './send-request.ts';

/** Envelopes that are kept; one that all requests share is read once. */
const maxEnvelopes = 256;

/**
 * The requests of a slice that have no rows of their own: read ahead, claimed by ranges, and noted as accepted together. One
 * of which anything else is to be noted gets a row first.
 */
export function createRangeSource(tools: SourceContext, checkpoint: SliceCheckpoint): RequestSource {
  const { slice, outageRetry, context, recorder, onSettled } = tools;
  const { pool, hot, hashKey } = context.ledger;
  const { retry } = outageRetry;
  const envelopes = new LRUCache<number, Envelope>({ max: maxEnvelopes });
  let readAhead: OrdinaryRequest[] = [];
  let epoch: string | undefined;
  let readTo = slice.claimedTo;
  let claimedTo = slice.claimedTo;
  /** The highest request of which a byte may have left. */
  let sentTo = slice.claimedTo;
  const unsent: { readonly claimed: ClaimedRequest; readonly because: WithheldCause }[] = [];
  const addRow = coalesce(
    async (started: readonly StartedRequest[]) => {
      await retry(() => addSendingRows(pool, { ...slice, started }));
      return started.map(() => undefined);
    },
    { maxBatch: 64, busyThreshold: 16 },
  );

  function discardReadAhead(): void {
    readAhead = [];
    epoch = undefined;
    readTo = claimedTo;
  }

  async function readMore(): Promise<void> {
    const contents = await retry(() => readContents(hot, slice, readTo, hashKey));
    if (epoch !== undefined && contents.epoch !== epoch) return discardReadAhead();
    if (contents.suppressed.length > 0) {
      await retry(() => addPlannedRows(pool, slice, contents.suppressed));
    }
    epoch = contents.epoch;
    readAhead.push(...contents.requests);
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
    for (const { envelope, ...fields } of await retry(() => readEnvelopes(hot, slice.run, [...missing]))) {
      loaded.set(envelope, fields);
      envelopes.set(envelope, fields);
    }
    return loaded;
  }

  async function recordReleased(sender: Sender): Promise<void> {
    const belowSent = unsent.filter(({ claimed }) => claimed.request < sentTo);
    await Promise.all(
      belowSent.map(async ({ claimed, because }) => {
        const now = context.now();
        await addRow({ request: claimed.request, startedAt: now });
        await recorder.record(settlementOf(sender, claimed, withheldAttempt(because, 1, now), released));
      }),
    );
    if (belowSent.length < unsent.length) await checkpoint.returnClaim({ after: claimedTo, to: sentTo });
  }

  return {
    async available(max) {
      while (readAhead.length < max && readTo < slice.last) await readMore();
      return Math.min(max, readAhead.length);
    },
    async claim(limit, stop) {
      const batch = readAhead.slice(0, limit);
      const loaded = await loadEnvelopes(batch);
      const isLast = batch.length === readAhead.length && readTo === slice.last;
      // What comes after the last ordinary request has rows of its own.
      const to = isLast ? slice.last : (batch.at(-1)?.request ?? claimedTo);
      if (!(await checkpoint.claim({ after: claimedTo, to, epoch: epoch ?? '' }))) {
        discardReadAhead();
        await sleep(refusedClaimWait, undefined, { signal: stop }).catch(() => undefined);
        return [];
      }
      claimedTo = to;
      readAhead = readAhead.slice(batch.length);
      return batch.map(({ request, messageId, envelope, destinations }): ClaimedRequest => {
        const content = loaded.get(envelope);
        if (!content) throw new Error(`run ${slice.run} has no envelope ${envelope}`);
        return { request, messageId, attempt: 1, envelope: content, destinations };
      });
    },
    async send(sender, prepared) {
      const { claimed } = prepared;
      const { attempt, step } = await attemptOnce(sender, prepared, 1).catch((error: unknown) => {
        // Nobody knows how far it came.
        sentTo = Math.max(sentTo, claimed.request);
        throw error;
      });
      const { outcome, startedAt } = attempt;
      if (outcome.kind === 'withheld') {
        unsent.push({ claimed, because: outcome.because });
        return settlementOf(sender, claimed, attempt, released);
      }
      sentTo = Math.max(sentTo, claimed.request);
      if (step.kind === 'settle' && step.as.state === 'accepted') {
        checkpoint.accept(acceptedAttempt(claimed, attempt, step.as.jobNumber));
        return settlementOf(sender, claimed, attempt, step.as);
      }
      await addRow({ request: claimed.request, startedAt });
      const settlement =
        step.kind === 'settle'
          ? settlementOf(sender, claimed, attempt, step.as)
          : await retryRequest(sender, prepared, { attempt, step });
      if (settlement && (await recorder.record(settlement))) onSettled(claimed.messageId, settlement.state);
      return settlement;
    },
    async release(_sender, claimed, because) {
      unsent.push(...claimed.map((each) => ({ claimed: each, because })));
    },
    async end(sender) {
      await checkpoint.whenRecorded();
      await recordReleased(sender);
      // All that is left has rows of its own.
      if (unsent.length === 0 && readAhead.length === 0 && readTo === slice.last && claimedTo < slice.last) {
        checkpoint.flush();
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
  jobNumber: string | undefined,
): AcceptedAttempt {
  return {
    ...{ request, messageId, jobNumber },
    finishedAt: finishedAt.getTime(),
    tookMs: finishedAt.getTime() - startedAt.getTime(),
    httpStatus: httpStatus ?? 200,
  };
}
