import type { ClaimedRequest } from '../../ledger/requests/claim.ts';
import type { Settlement } from '../../ledger/requests/settlement.ts';
import { type Attempt, describe } from './attempt.ts';

/** Whose request it is, and how it is sent. */
export type SettledBy = {
  readonly run: string;
  readonly slice: number;
  readonly owner: string;
  /** Whether a rejected request of several recipients is divided. */
  readonly bisect: boolean;
};

/**
 * What the request becomes after its last attempt.
 *
 * @param written the last attempt that is written in the ledger; it may not have been made
 * @param unsent why that was not made
 * @param retriesSpent whether a refusal was the last one; else the request is planned again
 */
export function settlementOf(
  { run, slice, owner, bisect }: SettledBy,
  claimed: ClaimedRequest,
  {
    written,
    last,
    unsent,
    retriesSpent,
    now,
  }: {
    readonly written: number;
    readonly last: Attempt | undefined;
    readonly unsent: string;
    readonly retriesSpent: boolean;
    readonly now: Date;
  },
): Settlement {
  const { request } = claimed;
  const held = { run, slice, owner, request };
  // Of an attempt that was not made, no byte has left.
  if (last?.number !== written) return { ...held, ...released(written, unsent, now) };
  const { outcome, number, httpStatus, finishedAt } = last;
  const settlement = { ...held, attempt: number, finishedAt, httpStatus, detail: describe(outcome) };
  switch (outcome.kind) {
    case 'accepted':
      return { ...settlement, state: 'accepted', ...(outcome.job === undefined ? {} : { job: outcome.job }) };
    case 'in_doubt':
      return { ...settlement, state: 'in_doubt' };
    case 'rejected':
      return { ...settlement, state: 'rejected', divide: bisect && claimed.destinations.length > 1 };
    case 'unauthorized':
      return { ...settlement, state: 'planned', verdict: 'unauthorized' };
    case 'unsendable':
      return { ...settlement, state: 'failed' };
    case 'retry':
      return retriesSpent
        ? { ...settlement, state: 'failed' }
        : { ...settlement, state: 'planned', verdict: 'released' };
  }
}

/** Back to `planned`, with no byte of the attempt sent. */
export function released(attempt: number, detail: string, finishedAt: Date) {
  return { attempt, finishedAt, httpStatus: null, detail, state: 'planned', verdict: 'released' } as const;
}
