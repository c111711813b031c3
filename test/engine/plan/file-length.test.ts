import { deflateSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { countPages, readSeconds } from '../../../src/engine/plan/file-length.ts';
import { wav } from '../../support/wav.ts';

const pdf = (...objects: readonly string[]): Buffer =>
  Buffer.from(['%PDF-1.5', ...objects].join('\n'), 'latin1');
const page = '<< /Type /Page >>';

/** Objects as most writers compress them. */
function objectStream(...objects: readonly string[]): string {
  const content = deflateSync(Buffer.from(objects.join('\n'))).toString('latin1');
  return `9 0 obj << /Type /ObjStm /Filter /FlateDecode >> stream\n${content}\nendstream endobj`;
}

/** Directories that point to each other, without entries. */
function tiff(pages: number, littleEndian: boolean): Buffer {
  const content = Buffer.alloc(8 + pages * 6);
  const write32 = (value: number, at: number) =>
    littleEndian ? content.writeUInt32LE(value, at) : content.writeUInt32BE(value, at);
  content.write(littleEndian ? 'II*\0' : 'MM\0*', 'latin1');
  write32(8, 4);
  for (let index = 0; index < pages; index++) write32(index + 1 < pages ? 14 + index * 6 : 0, 10 + index * 6);
  return content;
}

describe('the pages of a document', () => {
  test.each([
    ['a PDF', pdf('<</Type/Pages/Count 2>>', page, page), 2],
    ['a PDF with compressed objects', pdf(objectStream('<< /Type /Pages /Count 3 >>', page, page, page)), 3],
    ['a PDF with a page tree', pdf('<</Type/Pages/Count 2>>', '<</Type/Pages/Count 1>>', page, page), 2],
    ['a TIFF', tiff(4, true), 4],
    ['a TIFF of the other byte order', tiff(2, false), 2],
  ])('the pages of %s are counted', (_, content, pages) => {
    expect(countPages(content)).toBe(pages);
  });

  test.each([
    ['a PDF whose pages are not all found', pdf('<</Type/Pages/Count 7>>', page)],
    ['a PDF with a broken stream', pdf('<< /Type /ObjStm >> stream\nbroken\nendstream')],
    ['a TIFF that points outside of itself', tiff(2, true).subarray(0, 16)],
    ['a TIFF whose pages go in a circle', Buffer.from([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0, 0, 0, 8, 0, 0, 0])],
    ['another format', Buffer.from('PK\u0003\u0004')],
    ['an empty file', Buffer.alloc(0)],
    ['a PDF with many beginnings of streams', pdf('/Type /ObjStm '.repeat(300_000))],
    ['a PDF with many streams in each other', pdf('/Type /ObjStm stream\n'.repeat(100_000), 'endstream')],
  ])('the pages of %s are not known', (_, content) => {
    expect(countPages(content)).toBeNull();
  });
});

test('the seconds of a recording are those of its sound, whatever its channels', () => {
  expect(readSeconds(wav({ seconds: 3 }))).toBe(3);
  expect(readSeconds(wav({ seconds: 3, channels: 2 }))).toBe(3);
  expect(readSeconds(Buffer.from('no sound'))).toBeNull();
});
