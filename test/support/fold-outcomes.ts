import type pg from 'pg';
import { foldOutcomes, listUnfolded } from '../../src/ledger/delivery-reports/fold-outcomes.ts';

/** Folds the outcomes of every slice, due or not. @returns how many */
export async function foldAll(pool: pg.Pool): Promise<number> {
  let folded = 0;
  for (const slice of await listUnfolded(pool, undefined, new Date(), 1_000))
    folded += (await foldOutcomes(pool, slice)) ?? 0;
  return folded;
}
