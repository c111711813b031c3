import { addPlannedRows } from '../../ledger/requests/add-rows.ts';
import type { RangeClaim } from '../../ledger/requests/advance.ts';
import { type OrdinaryRequest, readContents } from '../../ledger/requests/read-contents.ts';
import type { SourceContext } from './request-source.ts';

/** Reads requests without rows before they are claimed. */
export type ReadAhead = {
  readonly claimedTo: () => number;
  readonly available: (max: number) => Promise<number>;
  /** The last claim includes requests with rows at the end of the slice. */
  readonly next: (limit: number) => {
    readonly requests: readonly OrdinaryRequest[];
    readonly claim: RangeClaim;
  };
  readonly advance: (requests: readonly OrdinaryRequest[], claim: RangeClaim) => void;
  readonly discard: () => void;
  /** The claim for the end of the slice, if all requests there have rows. */
  readonly rest: () => RangeClaim | undefined;
};

export function createReadAhead({
  context,
  outageRetry,
  slice,
}: Pick<SourceContext, 'context' | 'outageRetry' | 'slice'>): ReadAhead {
  const { pool, hot } = context.ledger;
  const { retry } = outageRetry;
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
    next(limit) {
      const batch = requests.slice(0, limit);
      const isLast = batch.length === requests.length && readTo === slice.last;
      return { requests: batch, claim: claimTo(isLast ? slice.last : (batch.at(-1)?.request ?? claimedTo)) };
    },
    advance(batch, { to }) {
      claimedTo = to;
      requests = requests.slice(batch.length);
    },
    discard,
    rest() {
      const isRead = requests.length === 0 && readTo === slice.last;
      return isRead && claimedTo < slice.last ? claimTo(slice.last) : undefined;
    },
  };
}
