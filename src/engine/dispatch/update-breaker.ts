import { retryAfterMilliseconds } from '../../gateway/retry-after.ts';
import type { AccountBreaker } from './account-breaker.ts';
import type { Attempt } from './attempt.ts';

/**
 * @param probeId the right that the attempt used
 * @returns a change in the ledger, which all workers share; undefined if there is none
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
      // Without an answer, a probe keeps the breaker open, but no other request opens it.
      return probeId === undefined
        ? undefined
        : () => breaker.recordRefusal({ reason: outcome.reason, requestedWait: undefined, probeId });
    case 'unsendable':
    case 'withheld':
      return probeId === undefined ? undefined : () => breaker.releaseProbe(probeId);
  }
}
