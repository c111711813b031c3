import { type FoldedUntil, foldOutcomes, listUnfolded } from '../../ledger/delivery-reports/fold-outcomes.ts';
import type { EngineContext } from '../context.ts';

/** Milliseconds. Reports that come later are folded again, at most once in this time. */
const oldAfter = 3_600_000;

/** Slices that are looked at before the caller may do something else. */
const slicesPerPage = 64;

/**
 * Folds outcomes of slices whose reports are in, or have become old, until a page of slices has none that is due. In
 * any number of processes, one folds at a time; a slice is a transaction, so after a crash the next call goes on.
 *
 * @param after where the last call ended; undefined: at the first run
 * @param shouldContinue called between two transactions
 * @returns where the next call begins
 */
export async function foldSettledOutcomes(
  { ledger, now }: Pick<EngineContext, 'ledger' | 'now'>,
  after: FoldedUntil | undefined,
  shouldContinue: () => boolean = () => true,
): Promise<FoldedUntil | undefined> {
  for (let until = after; ; ) {
    const oldBefore = new Date(now().getTime() - oldAfter);
    const slices = await listUnfolded(ledger.pool, until, oldBefore, slicesPerPage);
    const due = slices.filter(({ isDue }) => isDue);
    for (const slice of due) {
      if (!shouldContinue()) return until;
      await foldOutcomes(ledger.pool, slice, shouldContinue);
    }
    until = slices.length < slicesPerPage ? undefined : slices.at(-1);
    if (until === undefined || due.length === 0) return until;
  }
}
