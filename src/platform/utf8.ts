import { isUtf8 } from 'node:buffer';

const lineFeed = 10;
const carriageReturn = 13;

/**
 * Where bytes stop being UTF-8. Decoders put U+FFFD for what they cannot read, which would alter a name without a word.
 *
 * @returns the line, counted from 1; undefined when all of it is UTF-8
 */
export function faultyLine(bytes: Uint8Array): number | undefined {
  if (isUtf8(bytes)) return undefined;
  let line = 1;
  let start = 0;
  for (let index = 0; index < bytes.length; index++) {
    if (!endsLine(bytes, index)) continue;
    if (!isUtf8(bytes.subarray(start, index))) break;
    start = index + 1;
    line++;
  }
  return line;
}

/** LF, CRLF and CR each end a line. */
export function countLineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (let index = 0; index < bytes.length; index++) if (endsLine(bytes, index)) count++;
  return count;
}

function endsLine(bytes: Uint8Array, index: number): boolean {
  const byte = bytes[index];
  return byte === lineFeed || (byte === carriageReturn && bytes[index + 1] !== lineFeed);
}
