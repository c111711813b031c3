import { InputError } from '../domain/problems.ts';
import { asSentence } from '../platform/sentence.ts';
import type { Row } from './rows.ts';

const maxShownBroken = 3;

/**
 * Passes rows on.
 *
 * @param advice what to check when most rows are broken
 * @throws InputError at the end, if more than half of the rows are broken
 */
export async function* refuseMostlyBroken(
  batches: AsyncIterable<readonly Row[]>,
  name: string,
  place: (line: number) => string,
  advice: string,
): AsyncGenerator<readonly Row[], void, undefined> {
  let count = 0;
  let broken = 0;
  const shown: { where: string; what: string }[] = [];
  for await (const rows of batches) {
    count += rows.length;
    for (const row of rows) {
      if (row.kind !== 'broken') continue;
      broken++;
      if (shown.length < maxShownBroken) shown.push({ where: place(row.line), what: asSentence(row.detail) });
    }
    yield rows;
  }
  if (broken * 2 <= count) return;
  const what = `${broken} of ${count} rows are broken, so the file was probably read in the wrong format. ${advice} The first broken rows:`;
  throw new InputError([{ where: name, what }, ...shown]);
}
