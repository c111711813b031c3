import type { Ledger } from '../../ledger/connection.ts';
import { type Claim, claimRequests, type SliceClaim } from '../../ledger/requests/claim.ts';
import { gather } from '../gather.ts';

export type Claimer = {
  /** Resolves when the claim is committed. When it rejects, that may have happened all the same. */
  readonly claim: (claim: SliceClaim) => Promise<Claim>;
};

/** Claims for all slices of a process at once: they are many, and their shares of an account small. */
export function openClaimer({ hot, hashKey }: Pick<Ledger, 'hot' | 'hashKey'>, now: () => Date): Claimer {
  const commit = (claims: readonly SliceClaim[]): Promise<readonly Claim[]> =>
    claimRequests(hot, claims, now(), hashKey);
  return { claim: gather(commit, { most: 16, busy: 2 }) };
}
