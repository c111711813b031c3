import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';

/**
 * Reads a file, but at most one byte more than `max`, which shows that the file is larger: it can be a gigabyte, or a
 * device without an end.
 */
export async function readUpTo(path: string, max: number): Promise<Buffer> {
  return buffer(createReadStream(path, { end: max }));
}

/** Reads as `readUpTo` does, for settings that are read before anything else. */
export function readUpToSync(path: string, max: number): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(max + 1);
    let length = 0;
    for (;;) {
      const read = readSync(file, bytes, length, bytes.length - length, null);
      length += read;
      if (read === 0 || length === bytes.length) return bytes.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}
