import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError } from '../domain.ts';
import { whyUnreadable } from '../platform/file-error.ts';

/**
 * Writes a result to a file that only this user can read, or to standard output. A file that is there already is not
 * overwritten.
 *
 * @throws InputError when the file cannot be made
 */
export async function writeResult(text: AsyncIterable<string>, out: string | undefined): Promise<void> {
  if (out === undefined) {
    await pipeline(Readable.from(text), process.stdout, { end: false });
    return;
  }
  const file = await open(out, 'wx', 0o600).catch((error: unknown) => {
    const what = `The file cannot be written (${whyUnwritable(error)}).`;
    throw new InputError([{ where: out, what }], { cause: error });
  });
  await pipeline(Readable.from(text), file.createWriteStream());
}

function whyUnwritable(error: unknown): string {
  const exists = error instanceof Error && 'code' in error && error.code === 'EEXIST';
  return exists ? 'it is there already' : whyUnreadable(error);
}
