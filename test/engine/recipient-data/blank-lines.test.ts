import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { blankLines, type LineRange } from '../../../src/engine/recipient-data/contact-rows.ts';

async function blank(
  bytes: Buffer,
  encoding: string,
  ranges: readonly LineRange[],
  size = 3,
): Promise<Buffer> {
  async function* pieces(): AsyncGenerator<Buffer, void, undefined> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const parts: Buffer[] = [];
  for await (const part of blankLines(pieces(), 'list.csv', encoding, ranges)) parts.push(part);
  return Buffer.concat(parts);
}

const written = 'n,a\r\nAnn,1\nBjörn,2\r\n"two\r\nlines",3\rEve,4\n';
const ranges = [
  { line: 2, lastLine: 2 },
  { line: 4, lastLine: 5 },
];
const expected = 'n,a\r\n\nBjörn,2\r\n\r\n\rEve,4\n';

test.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
  'lines in %s are emptied with all line ends kept, however the bytes come in pieces',
  async (encoding) => {
    const encode = (text: string): Buffer => {
      if (encoding === 'utf-8') return Buffer.from(text);
      const little = Buffer.from(`\ufeff${text}`, 'utf16le');
      return encoding === 'utf-16le' ? little : little.swap16();
    };
    for (const size of [1, 3, 1000])
      expect(await blank(encode(written), encoding, ranges, size)).toEqual(encode(expected));
  },
);

test('a packed file comes out unpacked, and the last row is emptied to the end', async () => {
  const packed = gzipSync('n\nAnn\nBen\n\n');
  const blanked = await blank(packed, 'utf-8', [{ line: 3, lastLine: Number.POSITIVE_INFINITY }], 1000);
  expect(blanked.toString()).toBe('n\nAnn\n\n\n');
  expect(gunzipSync(packed).toString()).toContain('Ben');
});
