import type { ClaimMark } from '../../domain/claim-marks.ts';
import type { ClaimFence } from '../../ledger/place/place.ts';
import type { EngineContext } from '../context.ts';
import type { Patience } from './patience.ts';
import { checkPlace } from './place.ts';

/** Which ledger this process claims from, and the last claim that it made there. */
export type ClaimFencing = {
  readonly current: () => ClaimFence;
  /** Marks claims outside of the ledger; before anything of them is sent. */
  readonly note: (claims: readonly Omit<ClaimMark, 'at'>[], now: Date) => void;
  /** Nothing was claimed: perhaps the ledger is an older one, or an operator has said that it is another. */
  readonly lookAgain: () => Promise<void>;
};

export function openClaimFence(context: EngineContext, { persist }: Patience, ledger: string): ClaimFencing {
  const { marks } = context.ledger;
  let fence: ClaimFence = { ledger, last: null };
  return {
    current: () => fence,
    note(claims, now) {
      const made = claims.map(({ run, slice, owner, version }) => {
        return { run, slice, owner, version, at: now.toISOString() };
      });
      marks.write(fence.ledger, made);
      fence = { ...fence, last: made[0] ?? fence.last };
    },
    async lookAgain() {
      const found = await persist(() => checkPlace(context));
      if (found.held !== null || found.ledger === fence.ledger) return;
      marks.succeed(fence.ledger, found.place);
      fence = { ledger: found.ledger, last: null };
    },
  };
}
