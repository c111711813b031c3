import { retryAfterMilliseconds } from '../../gateway/retry-after.ts';
import type { AccountBreaker } from './account-breaker.ts';
import type { Attempt } from './attempt.ts';

/**
 * Tells the account's circuit breaker what an attempt says of the service, for all requests of the account.
 *
 * @param probe of the attempt that tries a service that refused everything
 * @returns what is to be done in the ledger, where all workers learn it; undefined where there is nothing
 */
export function tellBreaker(
  breaker: AccountBreaker,
  { outcome, finishedAt }: Attempt,
  probe: string | undefined,
): (() => Promise<void>) | undefined {
  switch (outcome.kind) {
    case 'accepted':
    case 'rejected':
    case 'unauthorized':
      breaker.answered();
      return probe === undefined ? undefined : () => breaker.close(probe);
    case 'retry': {
      const asked = retryAfterMilliseconds(outcome.retryAfter, finishedAt);
      return () => breaker.refused({ reason: outcome.reason, asked, probe });
    }
    case 'in_doubt':
      // A service that does not answer is as good a reason to wait as one that refuses; by itself it opens nothing.
      return probe === undefined
        ? undefined
        : () => breaker.refused({ reason: outcome.reason, asked: undefined, probe });
    case 'unsendable':
    case 'withheld':
      return probe === undefined ? undefined : () => breaker.notTried(probe);
  }
}
