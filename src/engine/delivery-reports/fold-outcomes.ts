import { type FoldedUntil, foldOutcomes, listUnfolded } from '../../ledger/delivery-reports/fold-outcomes.ts';
import type { EngineContext } from '../context.ts';

/** Milliseconds. Reports that come later are folded again, at most once in this time, and so is what no block could hold. */
const oldAfter = 3_600_000;

/** Slices that are listed at once. */
const slicesPerPage = 64;

/** Milliseconds, about: then the caller may do something else. */
const callDuration = 5_000;

/** What one call leaves to the next. */
export type FoldProgress = {
  /** Where the last call ended; undefined: before the first run. */
  until: FoldedUntil | undefined;
  /** When slices of which nothing could be folded are tried again (milliseconds since 1970), by run and first request. */
  readonly again: Map<string, number>;
};

export const startFolding = (): FoldProgress => ({ until: undefined, again: new Map() });

/**
 * Folds outcomes of slices whose reports are in, or have become old, for some seconds, or until a page of slices has none
 * that is due. In any number of processes, one folds at a time; after a crash the next call goes on.
 *
 * @param shouldContinue called between two transactions
 * @throws the error of a slice that could not be folded; the next call begins behind it
 */
export async function foldSettledOutcomes(
  { ledger, now, monotonic }: Pick<EngineContext, 'ledger' | 'now' | 'monotonic'>,
  progress: FoldProgress,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  const end = monotonic() + callDuration;
  for (let hasMore = true; hasMore; ) {
    const time = now().getTime();
    const slices = await listUnfolded(ledger.pool, progress.until, new Date(time - oldAfter), slicesPerPage);
    const due = slices.filter(
      ({ isDue, run, first }) => isDue && (progress.again.get(`${run} ${first}`) ?? 0) <= time,
    );
    for (const slice of due) {
      if (!shouldContinue()) return;
      progress.until = slice;
      progress.again.set(`${slice.run} ${slice.first}`, time + oldAfter);
      if ((await foldOutcomes(ledger.pool, slice, shouldContinue)) !== 0)
        progress.again.delete(`${slice.run} ${slice.first}`);
      if (monotonic() > end) return;
    }
    progress.until = slices.length < slicesPerPage ? undefined : slices.at(-1);
    if (progress.until === undefined)
      for (const [slice, at] of progress.again) if (at <= time) progress.again.delete(slice);
    hasMore = progress.until !== undefined && due.length > 0;
  }
}
