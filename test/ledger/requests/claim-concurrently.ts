import type { Ledger } from '../../../src/ledger/connection.ts';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import type { ClaimedRequest } from '../../support/claims.ts';
import { claimFrom } from '../../support/slices.ts';

/** Claims until all requests of a slice, which have rows, are claimed. */
export async function claimConcurrently(
  ledger: Ledger,
  slice: SendingSlice,
  claimants: number,
  limit: number,
): Promise<ClaimedRequest[]> {
  const claimed: ClaimedRequest[] = [];
  const claimAll = async (): Promise<void> => {
    while (claimed.length < slice.last) {
      claimed.push(...(await claimFrom(ledger, slice, limit)).claimed);
    }
  };
  await Promise.all(Array.from({ length: claimants }, claimAll));
  return claimed;
}
