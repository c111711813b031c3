import { LRUCache } from 'lru-cache';
import type { Envelope } from '../../domain/message.ts';
import { addPlannedRows } from '../../ledger/requests/add-rows.ts';
import type { RangeClaim } from '../../ledger/requests/advance.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { type OrdinaryRequest, readContents, readEnvelopes } from '../../ledger/requests/read-contents.ts';
import type { SourceContext } from './request-source.ts';

/** Reads requests without rows, and their envelopes, before they are claimed. */
type ReadAhead = {
  readonly claimedTo: () => number;
  readonly available: (max: number) => Promise<number>;
  /**
   * The next requests, and the claim that allows to send them. The last claim includes requests with rows at the end of
   * the slice.
   */
  readonly next: (limit: number) => Promise<{
    readonly requests: readonly ClaimedRequest[];
    readonly claim: RangeClaim;
  }>;
  /** After the claim was granted. */
  readonly advance: (requests: readonly ClaimedRequest[], claim: RangeClaim) => void;
  readonly discard: () => void;
  /** The claim for the end of the slice, if all requests there have rows. */
  readonly rest: () => RangeClaim | undefined;
};

export function createReadAhead({ context, outageRetry, slice }: ReadContext): ReadAhead {
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
    async available(max) {
      while (requests.length < max && readTo < slice.last) await readMore();
      return Math.min(max, requests.length);
    },
    async next(limit) {
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
    advance(claimed, { to }) {
      claimedTo = to;
      requests = requests.slice(claimed.length);
    },
    discard,
    rest() {
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
