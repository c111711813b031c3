import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../domain/problems.ts';
import { hasCode, unreadableReason } from '../platform/file-error.ts';

/** The bytes of contact files: from the disk, unpacked, in pieces of one size. */

/**
 * Bytes. Pieces are of the same size however the bytes arrive, so that what is found out from the first of them does not
 * depend on the pipe they came through. The rows of larger ones would live long enough to burden the garbage collector.
 */
export const pieceSize = 16_384;

/**
 * A file's bytes. It is opened when the first are asked for, and closed by whoever stops asking.
 *
 * @param name the file's name as errors show it
 * @throws InputError when the file cannot be read
 */
export async function* readFileBytes(path: string, name: string): AsyncGenerator<Buffer, void, undefined> {
  yield* readBytes(createReadStream(path, { highWaterMark: pieceSize }), name);
}

/** The same of a stream that somebody else opened. */
export async function* readBytes(
  stream: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    yield* stream;
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    const what = hasCode(error, 'EISDIR')
      ? 'This is a folder; expected a CSV file.'
      : `The file cannot be read (${unreadableReason(error, name)}).`;
    throw new InputError([{ where: name, what }], { cause: error });
  }
}

/** The same bytes in pieces of `pieceSize`; only the last may be smaller. */
export async function* inPieces(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    parts.push(chunk);
    length += chunk.length;
    if (length < pieceSize) continue;
    const bytes = concatenate(parts);
    let start = 0;
    for (; length - start >= pieceSize; start += pieceSize) yield bytes.subarray(start, start + pieceSize);
    parts = [bytes.subarray(start)];
    length -= start;
  }
  if (length > 0) yield concatenate(parts);
}

function concatenate(parts: readonly Buffer[]): Buffer {
  const filled = parts.filter(({ length }) => length > 0);
  const [only] = filled;
  return only !== undefined && filled.length === 1 ? only : Buffer.concat(filled);
}

/** Whether these are the first bytes of a gzip file. */
export function isGzip(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Lists of contacts are packed to a third, very regular ones to a fiftieth; gzip itself can reach a thousandth. Bytes. */
const maxExpansion = 100;
const uncheckedSize = 64 * 1024 * 1024;

/**
 * What a gzip file holds; all its parts, where several were put one after the other.
 *
 * @throws InputError when it is cut off or damaged, or unpacks to far more than a list does
 */
export async function* unpack(
  source: AsyncIterable<Buffer>,
  name: string,
): AsyncGenerator<Buffer, void, undefined> {
  const gunzip = createGunzip({ chunkSize: pieceSize });
  let packed = 0;
  let unpacked = 0;
  const counted = async function* (): AsyncGenerator<Buffer> {
    for await (const bytes of source) {
      packed += bytes.length;
      yield bytes;
    }
  };
  const feed = pipeline(counted, gunzip);
  // A failure is thrown where the output is read; here it would only be told a second time.
  feed.catch(() => {});
  try {
    for await (const bytes of gunzip) {
      unpacked += bytes.length;
      if (unpacked > uncheckedSize && unpacked > maxExpansion * packed) {
        const what = `The file is packed with gzip and holds more than ${maxExpansion} times its size, as no list of contacts does. If it is one, unpack it and name the unpacked file.`;
        throw new InputError([{ where: name, what }]);
      }
      yield bytes;
    }
  } catch (error) {
    throw readableError(error, name);
  } finally {
    gunzip.destroy();
    await feed.catch(() => {});
  }
}

const packingErrors: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'The file is packed with gzip and ends too early. Was it copied as a whole?',
  Z_DATA_ERROR: 'The file is packed with gzip and damaged. Copy or pack it again.',
};

function readableError(error: unknown, name: string): unknown {
  const what = error instanceof Error && 'code' in error ? packingErrors[String(error.code)] : undefined;
  return what === undefined ? error : new InputError([{ where: name, what }], { cause: error });
}
