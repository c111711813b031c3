import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A copy of the input that can be read at any position. */
export type SpooledFile = {
  readonly descriptor: number;
  readonly size: number;
  /** From the beginning. @param pieceSize bytes */
  readonly bytes: (pieceSize: number) => AsyncIterable<Buffer>;
  /** May be called again. */
  readonly close: () => Promise<void>;
};

/**
 * Copies the input into the temporary folder. Only its owner can read the copy, and it has no name: the system frees it
 * when the process ends in any way.
 *
 * @param failure makes the error of a copy that cannot be written
 */
export async function spool(
  source: AsyncIterable<string | Uint8Array>,
  failure: (error: unknown) => unknown,
): Promise<SpooledFile> {
  const file = await openNameless().catch((error: unknown) => {
    throw failure(error);
  });
  try {
    for await (const piece of source)
      await file.writeFile(piece).catch((error: unknown) => {
        throw failure(error);
      });
    const { size } = await file.stat();
    return {
      descriptor: file.fd,
      size,
      bytes: (highWaterMark) => file.createReadStream({ start: 0, autoClose: false, highWaterMark }),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'volley-'));
  try {
    return await open(join(folder, 'copy'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Bytes. */
const pieceSize = 65_536;

/** Passes pieces on when all of them are there, so that none has left if one cannot be read. */
export async function withAll<Result>(
  pieces: AsyncIterable<string | Uint8Array>,
  failure: (error: unknown) => unknown,
  use: (pieces: AsyncIterable<Uint8Array>) => Promise<Result>,
): Promise<Result> {
  const copy = await spool(pieces, failure);
  try {
    return await use(copy.bytes(pieceSize));
  } finally {
    await copy.close();
  }
}
