import { retryAfterMilliseconds } from '../../gateway/retry-after.ts';
import type { AccountBreaker } from './account-breaker.ts';
import type { Attempt } from './attempt.ts';

/**
 * Tells the account's circuit breaker what an attempt says of the service, for all requests of the account.
 *
 * @param probeId of the attempt that tries a service that refused everything
 * @returns what is to be done in the ledger, where all workers learn it; undefined where there is nothing
 */
export function updateBreaker(
  breaker: AccountBreaker,
  { outcome, finishedAt }: Attempt,
  probeId: string | undefined,
): (() => Promise<void>) | undefined {
  switch (outcome.kind) {
    case 'accepted':
    case 'rejected':
    case 'unauthorized':
      breaker.recordAnswer();
      return probeId === undefined ? undefined : () => breaker.closeAfterProbe(probeId);
    case 'retry': {
      const requestedWait = retryAfterMilliseconds(outcome.retryAfter, finishedAt);
      return () => breaker.recordRefusal({ reason: outcome.reason, requestedWait, probeId });
    }
    case 'in_doubt':
      // A service that does not answer is as good a reason to wait as one that refuses; by itself it opens nothing.
      return probeId === undefined
        ? undefined
        : () => breaker.recordRefusal({ reason: outcome.reason, requestedWait: undefined, probeId });
    case 'unsendable':
    case 'withheld':
      return probeId === undefined ? undefined : () => breaker.releaseProbe(probeId);
  }
}
