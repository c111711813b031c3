import type { Verdict } from '../gateway/verdict.ts';
import type { ClaimedRequest } from '../ledger/requests/claim.ts';
import type { Settlement } from '../ledger/requests/settle.ts';

/** A verdict, or that the interface cannot express the request, so that no byte of it left. */
export type Outcome = Verdict | { readonly kind: 'unsendable'; readonly reason: string };

export type Attempt = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly httpStatus: number | null;
  readonly finishedAt: Date;
};

/** Whose request it is, and how it is sent. */
export type Circumstances = Pick<Settlement, 'run' | 'slice' | 'owner'> & {
  /** Whether a rejected request of several recipients is divided. */
  readonly bisect: boolean;
  /** Whether it would have been sent again, had nobody asked to stop. */
  readonly stopped: boolean;
};

/**
 * What the request becomes after its last attempt. It is `failed` or `rejected` only if every attempt proves it: where an
 * earlier one is in doubt, the request stays so.
 *
 * @param last undefined where it was stopped before its first attempt
 */
export function settlementOf(
  { run, slice, owner, bisect, stopped }: Circumstances,
  claimed: ClaimedRequest,
  last: Attempt | undefined,
  now: Date,
): Settlement {
  const { request } = claimed;
  const held = { run, slice, owner, request };
  if (!last) return { ...held, ...released(claimed.attempt, 'stopped before it was sent', now) };
  const { outcome, number, httpStatus, finishedAt } = last;
  const settlement = { ...held, attempt: number, finishedAt, httpStatus, detail: describe(outcome) };
  const stillInDoubt = (what: string): Settlement => {
    return {
      ...settlement,
      state: 'in_doubt',
      detail: `an earlier attempt may have ${what}: ${settlement.detail}`,
    };
  };
  const failed = (): Settlement =>
    claimed.mayHaveArrived
      ? stillInDoubt('arrived; the last one did not')
      : { ...settlement, state: 'failed' };
  switch (outcome.kind) {
    case 'accepted':
    case 'in_doubt':
      return { ...settlement, state: outcome.kind };
    case 'rejected':
      if (claimed.mayHaveArrived) return stillInDoubt('been accepted; the last one was rejected');
      return { ...settlement, state: 'rejected', divide: bisect && claimed.destinations.length > 1 };
    case 'unauthorized':
      return { ...settlement, state: 'planned', verdict: 'unauthorized' };
    case 'retry':
      if (stopped) return { ...settlement, state: 'planned', verdict: 'released' };
      return failed();
    case 'unsendable':
      return failed();
  }
}

/** Back to `planned`, with no byte of the attempt sent. */
export function released(attempt: number, detail: string, finishedAt: Date) {
  return { attempt, finishedAt, httpStatus: null, detail, state: 'planned', verdict: 'released' } as const;
}

/** What is kept of an outcome: the service's own words, or what went wrong. */
export function describe(outcome: Outcome): string | null {
  switch (outcome.kind) {
    case 'accepted':
      return outcome.job === undefined ? null : `job ${outcome.job}`;
    case 'rejected':
    case 'unauthorized':
      return outcome.words.join('; ');
    case 'unsendable':
    case 'retry':
    case 'in_doubt':
      return outcome.reason;
  }
}
