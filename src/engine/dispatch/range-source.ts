import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../domain/message.ts';
import type { WithheldCause } from '../../domain/reasons.ts';
import { addPlannedRows, addSendingRows, type StartedRequest } from '../../ledger/requests/add-rows.ts';
import type { RangeClaim } from '../../ledger/requests/advance.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { type OrdinaryRequest, readContents, readEnvelopes } from '../../ledger/requests/read-contents.ts';
import { coalesce } from '../coalesce.ts';
import { attemptOnce, releaseOf, settlementOf } from './attempt-once.ts';
import type { SliceCheckpoint } from './checkpointer.ts';
import { type RequestSource, type SliceWork, settleRow, waitAfterRefusal } from './request-source.ts';

/**
 * Makes the fast path, which claims and accepts requests without rows of their own as ranges. A request with any other
 * outcome gets a row first.
 */
export function createRangeSource(work: SliceWork, checkpoint: SliceCheckpoint): RequestSource {
  const { slice, stop } = work;
  const readAhead = createReadAhead(work);
  const addRow = rowAdder(work);
  const unsent = createUnsent(work, addRow);

  return {
    available: readAhead.available,
    async claim(limit) {
      const { requests, claim } = await readAhead.next(limit);
      if (await checkpoint.claim(claim)) {
        readAhead.advance(requests, claim);
        return requests;
      }
      readAhead.discard();
      await waitAfterRefusal(stop);
      return [];
    },
    async send(prepared) {
      const { claimed } = prepared;
      const first = await attemptOnce(work, prepared, 1).catch((error: unknown) => {
        // A byte may have left.
        unsent.markSent(claimed.request);
        throw error;
      });
      const { attempt, step } = first;
      const { outcome, startedAt, finishedAt } = attempt;
      if (outcome.kind === 'withheld') {
        unsent.add([claimed], outcome.because);
        return undefined;
      }
      unsent.markSent(claimed.request);
      const settlement = step.kind === 'settle' && settlementOf(slice, claimed, attempt, step.as);
      if (settlement && settlement.state === 'accepted') {
        const { messageId, destinations } = claimed;
        const tookMs = finishedAt.getTime() - startedAt.getTime();
        checkpoint.accept({ ...settlement, messageId, recipients: destinations.count, tookMs });
        return settlement;
      }
      await addRow({ request: claimed.request, startedAt });
      return settleRow(work, prepared, first);
    },
    async release(claimed, because) {
      unsent.add(claimed, because);
    },
    async end() {
      await checkpoint.whenRecorded();
      await unsent.release((to) => checkpoint.releaseClaim({ after: readAhead.claimedTo(), to }));
      const rest = readAhead.rest();
      if (!rest || !unsent.isEmpty()) return;
      checkpoint.flush();
      await checkpoint.claim(rest);
    },
  };
}

type AddRow = (started: StartedRequest) => Promise<void>;

function rowAdder({ context, outageRetry, slice }: SliceWork): AddRow {
  return coalesce(
    async (started: readonly StartedRequest[]) => {
      await outageRetry.retry(() => addSendingRows(context.ledger.pool, { ...slice, started }));
      return started.map(() => undefined);
    },
    { maxBatch: 64, busyThreshold: 16 },
  );
}

/** Keeps claimed requests of which no byte has left. */
function createUnsent({ context, record, slice }: SliceWork, addRow: AddRow) {
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
    async release(releaseClaim: (after: number) => Promise<void>): Promise<void> {
      const belowSent = unsent.filter(({ claimed }) => claimed.request < sentTo);
      await Promise.all(
        belowSent.map(async ({ claimed, because }) => {
          const now = context.now();
          await addRow({ request: claimed.request, startedAt: now });
          await record(releaseOf(slice, claimed, because, now));
        }),
      );
      if (belowSent.length < unsent.length) await releaseClaim(sentTo);
    },
  };
}

/** Reads requests without rows, and their envelopes, before they are claimed. */
function createReadAhead({ context, outageRetry, slice }: SliceWork) {
  const { pool, hot } = context.ledger;
  const { retry } = outageRetry;
  const loadEnvelopes = envelopeLoader((numbers) => retry(() => readEnvelopes(hot, slice.run, numbers)));
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

const maxEnvelopes = 256;

/** @returns loads the envelopes of requests by their numbers, and keeps the last ones */
function envelopeLoader(read: (numbers: readonly number[]) => ReturnType<typeof readEnvelopes>) {
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
    for (const { envelope, ...fields } of await read([...missing])) {
      loaded.set(envelope, fields);
      cache.set(envelope, fields);
    }
    return loaded;
  };
}
