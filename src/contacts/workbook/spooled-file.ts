import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import { pieceSize } from '../file-bytes.ts';

/** A copy of the input that can be read at any position. */
export type SpooledFile = {
  readonly descriptor: number;
  readonly size: number;
  /** From the beginning. */
  readonly bytes: () => AsyncIterable<Buffer>;
  /** May be called again. */
  readonly close: () => Promise<void>;
};

/**
 * Copies a file into the temporary folder, because a ZIP archive is read from its end, and the input can be a pipe.
 * Only its owner can read the copy, and it has no name: the system frees it when the process ends in any way.
 *
 * @param name of the input, in errors
 * @throws InputError when the temporary folder has no room
 */
export async function spool(source: AsyncIterable<Buffer>, name: string): Promise<SpooledFile> {
  const file = await openNameless().catch((error: unknown) => {
    throw noTemporaryCopy(error, name);
  });
  try {
    for await (const bytes of source)
      await file.writeFile(bytes).catch((error: unknown) => {
        throw noTemporaryCopy(error, name);
      });
    const { size } = await file.stat();
    return {
      descriptor: file.fd,
      size,
      bytes: () => file.createReadStream({ start: 0, autoClose: false, highWaterMark: pieceSize }),
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
    return await open(join(folder, 'workbook'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Of an error of the system. */
function noTemporaryCopy(error: unknown, name: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  const what = `The workbook cannot be copied to the temporary folder ${tmpdir()} (${unreadableReason(error)}). Free space there, or name another folder with TMPDIR.`;
  return new InputError([{ where: name, what }], { cause: error });
}
