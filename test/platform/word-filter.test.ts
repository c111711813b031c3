import { expect, test } from 'vitest';
import { bitsOf, filteredWords, readWords } from '../../src/platform/word-filter.ts';

const mayHave = ({ words }: { readonly words: Buffer }, text: string): boolean =>
  bitsOf(filteredWords(text)).every(
    (bit) => ((words[(bit >>> 3) & (words.length - 1)] ?? 0) >>> (bit & 7)) & 1,
  );

test('every word of a text may be in it, in any case and between any other characters', () => {
  const found = readWords(Buffer.from('id;name\r\nK-77;"Anna O\'Brien"\r\nK-78;Zoë-Lou\r\n'));
  for (const text of ['anna', 'ANNA BRIEN', 'k 77', 'zo lou', 'id', 'Name K'])
    expect(mayHave(found, text)).toBe(true);
});

test('of words that are not in a megabyte of a list, less than a fifth may be in it, if no word of it is twice in it', () => {
  const rows = Array.from(
    { length: 13_000 },
    (_, row) => `+6141${row}234,Name${row} Sur${row % 900},C-${row}${row},street ${row}`,
  );
  const found = readWords(Buffer.from(rows.join('\n')));
  const others = Array.from({ length: 2_000 }, (_, number) => `missing${number}`);
  expect(others.filter((word) => mayHave(found, word)).length).toBeLessThan(400);
});

test('line ends are counted as a contact file has them', () => {
  expect(readWords(Buffer.from('a\nb\r\nc\rd')).lineEnds).toBe(3);
});

test('an empty text and one of a single byte have a filter too', () => {
  expect(readWords(Buffer.alloc(0)).words).toHaveLength(1);
  expect(mayHave(readWords(Buffer.from('x')), 'word')).toBe(false);
});
