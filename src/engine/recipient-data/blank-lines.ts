import { isGzip, prepend, unpack } from '../../contacts/file-bytes.ts';

/** Lines of a file, from 1; both ends belong to the range. */
export type LineRange = { readonly line: number; readonly lastLine: number };

const lineFeed = 10;
const carriageReturn = 13;

/**
 * Empties lines of a CSV file. All line ends stay, so every other row keeps its line number. A file that was packed
 * with gzip comes out unpacked.
 *
 * @param encoding as it was read; in UTF-16 a character has two bytes
 */
export async function* blankLines(
  bytes: AsyncGenerator<Buffer, void, undefined>,
  name: string,
  encoding: string,
  ranges: readonly LineRange[],
): AsyncGenerator<Buffer, void, undefined> {
  const first = await bytes.next();
  const whole = prepend(first, bytes);
  const width = encoding.startsWith('utf-16') ? 2 : 1;
  const low = encoding === 'utf-16be' ? 1 : 0;
  const blanker = createBlanker(ranges, width, low);
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of isGzip(first.value || undefined) ? unpack(whole, name) : whole) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const end = all.length - (all.length % width);
    rest = all.subarray(end);
    yield blanker(all.subarray(0, end));
  }
  if (rest.length > 0) yield rest;
}

/** Counts lines as `TextLines` does: LF, CRLF and CR end one. */
function createBlanker(ranges: readonly LineRange[], width: number, low: number): (bytes: Buffer) => Buffer {
  let line = 1;
  let afterReturn = false;
  let at = 0;
  return (bytes) => {
    const kept = Buffer.alloc(bytes.length);
    let length = 0;
    for (let index = 0; index < bytes.length; index += width) {
      const isOther = width === 2 && bytes[index + 1 - low] !== 0;
      const code = isOther ? -1 : bytes[index + low];
      if (afterReturn && code !== lineFeed) line++;
      const isLineEnd = code === lineFeed || code === carriageReturn;
      while ((ranges[at]?.lastLine ?? Number.POSITIVE_INFINITY) < line) at++;
      const isBlanked = (ranges[at]?.line ?? Number.POSITIVE_INFINITY) <= line;
      if (isLineEnd || !isBlanked) length += bytes.copy(kept, length, index, index + width);
      if (code === lineFeed) line++;
      afterReturn = code === carriageReturn;
    }
    return kept.subarray(0, length);
  };
}
