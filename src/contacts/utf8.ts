import { InputError } from '../domain.ts';
import { countLineEnds, faultyLine } from '../platform/utf8.ts';

/**
 * Passes a file's bytes on, as long as they are UTF-8.
 *
 * @throws InputError with the line of the first byte that is not
 */
export async function* onlyUtf8(
  source: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  let linesBefore = 0;
  let rest = Buffer.alloc(0);
  const check = (bytes: Buffer): Buffer => {
    const line = faultyLine(bytes);
    if (line !== undefined) {
      const what = 'Expected UTF-8, and this line holds bytes that are not. Save the file as "CSV UTF-8".';
      throw new InputError([{ where: `${name}:${linesBefore + line}`, what }]);
    }
    linesBefore += countLineEnds(bytes);
    return bytes;
  };

  for await (const chunk of source) {
    const bytes = Buffer.concat([rest, chunk]);
    const end = endOfWholeCharacters(bytes);
    rest = bytes.subarray(end);
    yield check(bytes.subarray(0, end));
  }
  yield check(rest);
}

/** Leaves out a last character that the end of the chunk may have cut in two, and a CR that may belong to a CRLF. */
function endOfWholeCharacters(bytes: Buffer): number {
  for (let end = bytes.length - 1; end >= Math.max(0, bytes.length - 3); end--) {
    const byte = bytes[end] ?? 0;
    if (byte >= 0xc0 || byte === 0x0d) return end;
    if (byte < 0x80) break;
  }
  return bytes.length;
}
