import type pg from 'pg';
import type { ClaimFence } from '../place/place.ts';
import { type HashKey, requireHashKey } from '../suppressions/hash.ts';
import { claimFreshRequests } from './claim-fresh.ts';
import { claimOtherRequests } from './claim-others.ts';
import type { Claim, SliceClaim } from './claimed.ts';

export type { CancelledRequest, Claim, ClaimedRequest, SliceClaim } from './claimed.ts';

/**
 * `planned → sending`: takes the lowest planned requests of each slice and writes their attempts. When this returns, both
 * are committed, and the first byte may leave (rule 1). Nothing is claimed from a slice that its owner does not hold, or
 * of a run that is not running. When this rejects, some may be claimed all the same.
 *
 * Recipients that are suppressed by now are left out of a request's first attempt, and are `cancelled`. After it the
 * request never shrinks, because every attempt carries the same bytes (rule 3). A request that nobody is left of is
 * `cancelled` whenever it is taken: that it is planned says that the service does not have it. Only one that was to be
 * sent again after a doubt is in doubt as before.
 *
 * Most requests were never tried, and have nobody who is suppressed. They are claimed by a statement that knows of nothing
 * else, in a third of the time; only what it leaves is looked at closely.
 *
 * Nothing is claimed either from a ledger that is held, that is another one by now, or that lacks the last claim.
 *
 * @param key of suppressions that are known by their hashes
 * @returns a claim for each slice, in their order
 * @throws InputError when there are such and this is not their key
 */
export async function claimRequests(
  pool: pg.Pool,
  claims: readonly SliceClaim[],
  now: Date,
  key: HashKey | null = null,
  fence: ClaimFence | null = null,
): Promise<Claim[]> {
  const fresh = await claimFreshRequests(pool, claims, now, key, fence);
  const settled = await Promise.allSettled(
    claims.map(async (claim, place) => {
      const { claimed, left } = fresh[place] ?? { claimed: [], left: 0 };
      if (left === 0) return { claimed, cancelled: [], witnesses: claimed.slice(0, 1) };
      // What was left is among the lowest that are still planned.
      const others = await claimOtherRequests(pool, { ...claim, limit: left }, now, key, fence);
      // Without the key nothing is claimed.
      if (others.claimed.length + others.cancelled.length === 0) await requireHashKey(pool, key);
      const all = [...claimed, ...others.claimed].sort((one, other) => one.request - other.request);
      const witnesses = [...claimed.slice(0, 1), ...others.claimed.slice(0, 1)];
      return { claimed: all, cancelled: others.cancelled, witnesses };
    }),
  );
  // Where one fails, all are taken back: by then none may still be on its way.
  return settled.map((claim) => {
    if (claim.status === 'rejected') throw claim.reason;
    return claim.value;
  });
}
