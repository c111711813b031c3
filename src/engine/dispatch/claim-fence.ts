import type { ClaimMark } from '../../domain/claim-marks.ts';
import type { ClaimFence } from '../../ledger/location/location.ts';
import type { EngineContext } from '../context.ts';
import { checkLedgerLocation } from './ledger-location.ts';
import type { OutageRetry } from './outage-retry.ts';

/** The ledger that this process claims from, and its last claim there. */
export type CurrentClaimFence = {
  readonly current: () => ClaimFence;
  /** Call it before any of their requests is sent. */
  readonly markClaims: (claims: readonly Omit<ClaimMark, 'at'>[], now: Date) => void;
  /** After a refused claim: the ledger may be older than the last claim, or have a new id. */
  readonly refresh: () => Promise<void>;
};

export function createClaimFence(
  context: EngineContext,
  { retry }: OutageRetry,
  ledger: string,
): CurrentClaimFence {
  const { marks } = context.ledger;
  let fence: ClaimFence = { ledger, last: null };
  return {
    current: () => fence,
    markClaims(claims, now) {
      const made = claims.map(({ run, slice, owner, version }) => {
        return { run, slice, owner, version, at: now.toISOString() };
      });
      marks.write(fence.ledger, made);
      fence = { ...fence, last: made[0] ?? fence.last };
    },
    async refresh() {
      const found = await retry(() => checkLedgerLocation(context));
      if (found.held !== null || found.ledger === fence.ledger) return;
      marks.markReplaced(fence.ledger, found.location);
      fence = { ledger: found.ledger, last: null };
    },
  };
}
