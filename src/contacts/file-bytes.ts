import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { InputError } from '../domain/problems.ts';
import { codeOf, hasCode, unreadableReason } from '../platform/file-error.ts';

/**
 * Bytes. A fixed size makes detection from the first piece independent of the pipe. Rows of larger pieces would
 * live long enough to burden the garbage collector.
 */
export const pieceSize = 16_384;

/**
 * Opens the file at the first read, and closes it when the caller stops.
 *
 * @param name the file's name in errors
 * @throws InputError when the file cannot be read
 */
export async function* readFileBytes(path: string, name: string): AsyncGenerator<Buffer, void, undefined> {
  yield* readBytes(createReadStream(path, { highWaterMark: pieceSize }), name);
}

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

/** Cuts a stream into equal pieces; only the last one can be smaller. */
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

/** Puts back a piece that was read. */
export async function* prepend(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void, undefined>,
): AsyncGenerator<Buffer, void, undefined> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

export function isGzip(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Lists and sheets shrink to a third or a tenth, very regular ones to a fiftieth; gzip and ZIP can reach a thousandth. */
export const maxExpansion = 100;
const uncheckedSize = 64 * 1024 * 1024;

/** Whether something expands far more than lists do. Both in bytes. */
export function expandsTooMuch(unpacked: number, packed: number): boolean {
  return unpacked > uncheckedSize && unpacked > maxExpansion * packed;
}

/** @param limit in bytes */
export function tooLargeUnpacked(name: string, limit: number): InputError {
  const what = `The file is larger than ${limit / 1_048_576} MB when it is unpacked. The command line reads a file of any size.`;
  return new InputError([{ where: name, what }]);
}

/**
 * Decompresses a gzip file with all its members.
 *
 * @param limit of the unpacked bytes
 * @throws InputError when it is truncated or damaged, larger than the limit, or expands far more than a contact list does
 */
export async function* unpack(
  source: AsyncIterable<Buffer>,
  name: string,
  limit = Number.POSITIVE_INFINITY,
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
  // Reading the output throws the same error.
  feed.catch(() => {});
  try {
    for await (const bytes of gunzip) {
      unpacked += bytes.length;
      if (unpacked > limit) throw tooLargeUnpacked(name, limit);
      if (expandsTooMuch(unpacked, packed)) {
        const what = `The file is compressed with gzip and expands more than ${maxExpansion} times, as few lists do. If yours does, decompress it and name the decompressed file.`;
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
  Z_BUF_ERROR: 'The file is compressed with gzip and ends too early. Check that it was copied completely.',
  Z_DATA_ERROR: 'The file is compressed with gzip and damaged. Copy or compress it again.',
};

function readableError(error: unknown, name: string): unknown {
  const what = packingErrors[codeOf(error) ?? ''];
  return what === undefined ? error : new InputError([{ where: name, what }], { cause: error });
}
