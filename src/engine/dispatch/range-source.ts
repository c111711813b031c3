import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../domain/message.ts';
import type { WithheldCause } from '../../domain/reasons.ts';
import { addPlannedRows, addSendingRows, type StartedRequest } from '../../ledger/requests/add-rows.ts';
import type { RangeClaim } from '../../ledger/requests/advance.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { type OrdinaryRequest, readContents, readEnvelopes } from '../../ledger/requests/read-contents.ts';
import { coalesce } from '../coalesce.ts';
import { attemptOnce, type Sender, settlementOf, withheldAttempt } from './attempt-once.ts';
import type { AcceptedAttempt, SliceCheckpoint } from './checkpoint.ts';
import { type Attempt, released } from './next-step.ts';
import { type RequestSource, refusedClaimWait, type SourceContext } from './request-source.ts';
import { retryRequest } from './retry-request.ts';

/**
 * Makes the fast path, which claims and accepts requests without rows of their own as ranges. A request with any other
 * outcome gets a row first.
 */
export function createRangeSource(options: SourceContext, checkpoint: SliceCheckpoint): RequestSource {
  const { recorder, onSettled } = options;
  const readAhead = createReadAhead(options);
  const addRow = rowAdder(options);
  const unsent = createUnsent(options, addRow);

  return {
    available: readAhead.available,
    async claim(limit, stop) {
      const { requests, claim } = await readAhead.next(limit);
      if (await checkpoint.claim(claim)) {
        readAhead.advance(requests, claim);
        return requests;
      }
      readAhead.discard();
      await sleep(refusedClaimWait, undefined, { signal: stop }).catch(() => undefined);
      return [];
    },
    async send(sender, prepared) {
      const { claimed } = prepared;
      const { attempt, step } = await attemptOnce(sender, prepared, 1).catch((error: unknown) => {
        // A byte may have left.
        unsent.markSent(claimed.request);
        throw error;
      });
      const { outcome, startedAt } = attempt;
      if (outcome.kind === 'withheld') {
        unsent.add([claimed], outcome.because);
        return settlementOf(sender, claimed, attempt, released);
      }
      unsent.markSent(claimed.request);
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
      unsent.add(claimed, because);
    },
    async end(sender) {
      await checkpoint.whenRecorded();
      await unsent.release(sender, (to) => checkpoint.releaseClaim({ after: readAhead.claimedTo(), to }));
      const rest = readAhead.rest();
      if (!rest || !unsent.isEmpty()) return;
      checkpoint.flush();
      await checkpoint.claim(rest);
    },
  };
}

type AddRow = (started: StartedRequest) => Promise<void>;

function rowAdder({ context, outageRetry, slice }: SourceContext): AddRow {
  return coalesce(
    async (started: readonly StartedRequest[]) => {
      await outageRetry.retry(() => addSendingRows(context.ledger.pool, { ...slice, started }));
      return started.map(() => undefined);
    },
    { maxBatch: 64, busyThreshold: 16 },
  );
}

/** Keeps claimed requests of which no byte has left. */
function createUnsent({ context, recorder, slice }: SourceContext, addRow: AddRow) {
  const unsent: { readonly claimed: ClaimedRequest; readonly because: WithheldCause }[] = [];
  let sentTo = slice.claimedTo;
  return {
    markSent(request: number): void {
      sentTo = Math.max(sentTo, request);
    },
    add(claimed: readonly ClaimedRequest[], because: WithheldCause): void {
      unsent.push(...claimed.map((each) => ({ claimed: each, because })));
    },
    isEmpty: () => unsent.length === 0,
    /** @param releaseClaim releases all requests after the given one */
    async release(sender: Sender, releaseClaim: (after: number) => Promise<void>): Promise<void> {
      const belowSent = unsent.filter(({ claimed }) => claimed.request < sentTo);
      await Promise.all(
        belowSent.map(async ({ claimed, because }) => {
          const now = context.now();
          await addRow({ request: claimed.request, startedAt: now });
          await recorder.record(settlementOf(sender, claimed, withheldAttempt(because, 1, now), released));
        }),
      );
      if (belowSent.length < unsent.length) await releaseClaim(sentTo);
    },
  };
}

function acceptedAttempt(
  { request, messageId, destinations }: ClaimedRequest,
  { startedAt, finishedAt, httpStatus }: Pick<Attempt, 'startedAt' | 'finishedAt' | 'httpStatus'>,
  jobNumber: string | undefined,
): AcceptedAttempt {
  return {
    request,
    recipients: destinations.count,
    messageId,
    jobNumber,
    finishedAt: finishedAt.getTime(),
    tookMs: finishedAt.getTime() - startedAt.getTime(),
    httpStatus: httpStatus ?? 200,
  };
}

/** Reads requests without rows, and their envelopes, before they are claimed. */
function createReadAhead({ context, outageRetry, slice }: ReadContext) {
  const { pool, hot } = context.ledger;
  const { retry } = outageRetry;
  const loadEnvelopes = envelopeLoader({ context, outageRetry, slice });
  let requests: OrdinaryRequest[] = [];
  let epoch: string | undefined;
  let readTo = slice.claimedTo;
  let claimedTo = slice.claimedTo;

  function discard(): void {
    requests = [];
    epoch = undefined;
    readTo = claimedTo;
  }

  async function readMore(): Promise<void> {
    const contents = await retry(() => readContents(hot, slice, readTo, context.ledger.hashKey));
    if (epoch !== undefined && contents.epoch !== epoch) return discard();
    if (contents.suppressed.length > 0) {
      await retry(() => addPlannedRows(pool, slice, contents.suppressed));
    }
    epoch = contents.epoch;
    requests.push(...contents.requests);
    readTo = contents.readTo ?? slice.last;
  }

  const claimTo = (to: number): RangeClaim => ({ after: claimedTo, to, epoch: epoch ?? '' });

  return {
    claimedTo: () => claimedTo,
    async available(max: number): Promise<number> {
      while (requests.length < max && readTo < slice.last) await readMore();
      return Math.min(max, requests.length);
    },
    /**
     * The next requests, and the claim that allows to send them. The last claim includes requests with rows at the end of
     * the slice.
     */
    async next(limit: number) {
      const batch = requests.slice(0, limit);
      const isLast = batch.length === requests.length && readTo === slice.last;
      const claim = claimTo(isLast ? slice.last : (batch.at(-1)?.request ?? claimedTo));
      const envelopes = await loadEnvelopes(batch);
      const whole = batch.map(({ request, messageId, envelope, destinations }): ClaimedRequest => {
        const content = envelopes.get(envelope);
        if (!content) throw new Error(`run ${slice.run} has no envelope ${envelope}`);
        return { request, messageId, attempt: 1, envelope: content, destinations };
      });
      return { requests: whole, claim };
    },
    /** Call it when the claim was granted. */
    advance(claimed: readonly ClaimedRequest[], { to }: RangeClaim): void {
      claimedTo = to;
      requests = requests.slice(claimed.length);
    },
    discard,
    /** The claim for the end of the slice, if all requests there have rows. */
    rest(): RangeClaim | undefined {
      const isRead = requests.length === 0 && readTo === slice.last;
      return isRead && claimedTo < slice.last ? claimTo(slice.last) : undefined;
    },
  };
}

type ReadContext = Pick<SourceContext, 'context' | 'outageRetry' | 'slice'>;

const maxEnvelopes = 256;

/** @returns loads the envelopes of requests by their numbers, and keeps the last ones */
function envelopeLoader({ context, outageRetry, slice }: ReadContext) {
  const cache = new LRUCache<number, Envelope>({ max: maxEnvelopes });
  return async (requests: readonly OrdinaryRequest[]): Promise<ReadonlyMap<number, Envelope>> => {
    const loaded = new Map<number, Envelope>();
    const missing = new Set<number>();
    for (const { envelope } of requests) {
      const cached = cache.get(envelope);
      if (cached) loaded.set(envelope, cached);
      else missing.add(envelope);
    }
    if (missing.size === 0) return loaded;
    const rows = await outageRetry.retry(() => readEnvelopes(context.ledger.hot, slice.run, [...missing]));
    for (const { envelope, ...fields } of rows) {
      loaded.set(envelope, fields);
      cache.set(envelope, fields);
    }
    return loaded;
  };
}
