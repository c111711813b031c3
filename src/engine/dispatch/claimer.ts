import type { ClaimMark } from '../../domain/claim-marks.ts';
import { type Claim, claimRequests, type SliceClaim } from '../../ledger/requests/claim.ts';
import type { EngineContext } from '../context.ts';
import { gather } from '../gather.ts';
import { checkPlace } from './place.ts';

export type Claimer = {
  /** Resolves when the claim is committed. When it rejects, that may have happened all the same. */
  readonly claim: (claim: SliceClaim) => Promise<Claim>;
};

/**
 * Claims for all slices of a process at once: they are many, and their shares of an account small. What was claimed is
 * marked outside of the ledger before anybody hears of it, and the next claim is committed only where the ledger has it.
 *
 * @param ledger as it was found when the worker started
 */
export function openClaimer(context: EngineContext, ledger: string): Claimer {
  const { hot, hashKey, marks } = context.ledger;
  let fence = { ledger, last: null as ClaimMark | null };

  async function commit(claims: readonly SliceClaim[]): Promise<readonly Claim[]> {
    const now = context.now();
    const made = await claimRequests(hot, claims, now, hashKey, fence);
    const claimed = made.flatMap(({ witnesses }, place) =>
      witnesses.map(({ request, attempt }): ClaimMark => {
        const { run = '', owner = '' } = claims[place] ?? {};
        return { run, request, attempt, owner, at: now.toISOString() };
      }),
    );
    const [last] = claimed;
    if (last) {
      marks.write(fence.ledger, claimed);
      fence = { ...fence, last };
    } else if (made.every(({ cancelled }) => cancelled.length === 0)) await findOutWhy();
    return made;
  }

  /** Nothing was left to claim; or the ledger is an older one, or was said to be another by an operator. */
  async function findOutWhy(): Promise<void> {
    const found = await checkPlace(context);
    if (found.held !== null || found.ledger === fence.ledger) return;
    marks.succeed(fence.ledger, found.place);
    fence = { ledger: found.ledger, last: null };
  }

  return { claim: gather(commit, { most: 16, busy: 2 }) };
}
