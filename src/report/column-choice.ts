import { InputError } from '../domain/problems.ts';
import { didYouMean } from '../platform/suggestions.ts';
import type { Columns } from './column.ts';

/** Columns of a table for people, unless they choose others. Files have all. */
const usualCount = 8;

/** The columns that a table has unless others are chosen: the least minor ones. */
export function usualColumns<Row>(columns: Columns<Row>): Columns<Row> {
  const filled = columns.filter(({ blank }) => !blank);
  return dropMinor(filled, (kept) => kept.length > usualCount);
}

/** Drops the most minor columns, of equals the last, while there are too many. Columns without a number stay. */
export function dropMinor<Item extends { readonly minor?: number | undefined }>(
  columns: readonly Item[],
  areTooMany: (kept: readonly Item[]) => boolean,
): readonly Item[] {
  const kept = [...columns];
  while (areTooMany(kept)) {
    const lowestRank = kept.reduce((found, { minor = 0 }) => Math.max(found, minor), 0);
    if (lowestRank === 0) break;
    kept.splice(
      kept.findLastIndex(({ minor }) => minor === lowestRank),
      1,
    );
  }
  return kept;
}

/**
 * The columns that a user names by their keys or titles, in the order of the names.
 *
 * @param names with commas; `all` for all of them
 * @throws InputError for a name of no column
 */
export function chooseColumns<Row>(columns: Columns<Row>, names: string): Columns<Row> {
  if (names === 'all') return columns;
  return names.split(',').map((name) => {
    const wanted = name.trim().toLowerCase();
    const found = columns.find(({ key, title }) =>
      [key, title].some((each) => each.toLowerCase() === wanted),
    );
    if (found) return { ...found, blank: false };
    const keys = columns.map(({ key }) => key);
    const what = `"${name}" is none of ${keys.join(', ')}.${didYouMean(name, keys)}`;
    throw new InputError([{ where: '--columns', what }]);
  });
}
