import { close, createReadStream, open, write } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
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

const openFile = promisify(open);
const closeFile = promisify(close);
const writeFile = promisify(write);

/**
 * Copies a file into the temporary folder, because a ZIP archive is read from its end, and the input can be a pipe.
 * Only its owner can read the copy, and it has no name: the system frees it when the process ends in any way.
 *
 * @param name of the input, in errors
 * @throws InputError when the temporary folder has no room
 */
export async function spool(source: AsyncIterable<Buffer>, name: string): Promise<SpooledFile> {
  const descriptor = await openNameless(name);
  try {
    let size = 0;
    let isOpen = true;
    for await (const bytes of source) {
      await writeAll(descriptor, bytes, size).catch((error: unknown) => {
        throw noTemporaryCopy(error, name);
      });
      size += bytes.length;
    }
    return {
      descriptor,
      size,
      bytes: () =>
        createReadStream('', { fd: descriptor, start: 0, autoClose: false, highWaterMark: pieceSize }),
      close: async () => {
        if (!isOpen) return;
        isOpen = false;
        await closeFile(descriptor);
      },
    };
  } catch (error) {
    await closeFile(descriptor);
    throw error;
  }
}

async function writeAll(descriptor: number, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await writeFile(
      descriptor,
      bytes,
      written,
      bytes.length - written,
      position + written,
    );
    written += bytesWritten;
  }
}

async function openNameless(name: string): Promise<number> {
  try {
    const folder = await mkdtemp(join(tmpdir(), 'volley-'));
    try {
      return await openFile(join(folder, 'workbook'), 'wx+', 0o600);
    } finally {
      await rm(folder, { recursive: true });
    }
  } catch (error) {
    throw noTemporaryCopy(error, name);
  }
}

function noTemporaryCopy(error: unknown, name: string): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error;
  const what = `The workbook cannot be copied to the temporary folder ${tmpdir()} (${unreadableReason(error)}). Free space there, or name another folder with TMPDIR.`;
  return new InputError([{ where: name, what }], { cause: error });
}
