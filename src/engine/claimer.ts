import type { Ledger } from '../ledger/connection.ts';
import { type Claim, claimRequests, type SliceClaim } from '../ledger/requests/claim.ts';

export type Claimer = {
  /** Resolves when the claim is committed. When it rejects, that may have happened all the same. */
  readonly claim: (claim: SliceClaim) => Promise<Claim>;
};

type Waiting = {
  readonly asked: SliceClaim;
  readonly resolve: (claim: Claim) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Claims for all slices of a process at once, without a timer: what is asked for while one claim is being committed goes
 * into the next. Slices are many and their shares of an account small, and a claim costs the more by itself, the fewer
 * requests it is for.
 */
export function openClaimer(pool: Ledger['hot'], now: () => Date): Claimer {
  let waiting: Waiting[] = [];
  let committing = false;

  async function commit(): Promise<void> {
    committing = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const asked = batch.map((each) => each.asked);
        const claims = await claimRequests(pool, asked, now());
        for (const [place, { resolve }] of batch.entries()) {
          resolve(claims[place] ?? { claimed: [], cancelled: [] });
        }
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    committing = false;
  }

  return {
    claim: (asked) =>
      new Promise((resolve, reject) => {
        waiting.push({ asked, resolve, reject });
        if (!committing) void commit();
      }),
  };
}
