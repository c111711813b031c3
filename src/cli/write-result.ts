import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError } from '../domain/problems.ts';
import { unreadableReason } from '../platform/file-error.ts';
import { runAtExit } from '../platform/run-at-exit.ts';
import { OutputError, standardOutput } from './output-error.ts';
import type { Shell } from './shell.ts';

/**
 * Writes a result to a file that only this user can read, or to standard output. A file that is there already is not
 * overwritten, and one that is there in the end is whole: until then it has another name beside it.
 *
 * @throws InputError when the file cannot be made; OutputError when what it is written to cannot hold it
 */
export async function writeResult(
  { result, settings }: Pick<Shell, 'result' | 'settings'>,
  pieces: AsyncIterable<string | Uint8Array>,
  named: string | undefined,
): Promise<void> {
  if (named === undefined) {
    await writePieces(pieces, result, standardOutput, { end: false });
    return;
  }
  const { workingFolder } = settings;
  // In the words of who named it, where these lead to the same place.
  const out = workingFolder === process.cwd() ? named : resolve(workingFolder, named);
  // Before anything is made that would have no place.
  await refuseExisting(out);
  const unfinished = join(dirname(out), `.${basename(out).slice(0, 50)}.${randomUUID()}`);
  const file = await create(unfinished, out);
  const keep = runAtExit(() => rmSync(unfinished, { force: true }));
  try {
    await writePieces(pieces, file.createWriteStream({ flush: true }), out);
    await publish(unfinished, out);
  } finally {
    await rm(unfinished, { force: true });
    keep();
  }
}

/** Tells a failure of what is written to from one of what is read: the error of a report's own source passes as it is. */
async function writePieces(
  pieces: AsyncIterable<string | Uint8Array>,
  to: NodeJS.WritableStream,
  where: string,
  options: { readonly end?: boolean } = {},
): Promise<void> {
  let failed: unknown;
  const note = (error: unknown): void => {
    failed ??= error;
  };
  to.once('error', note);
  try {
    await pipeline(Readable.from(pieces), to, options);
  } catch (error) {
    throw error === failed ? new OutputError(where, error) : error;
  } finally {
    to.off('error', note);
  }
}

async function refuseExisting(out: string): Promise<void> {
  const found = await lstat(out).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unwritable(out, error);
  });
  if (found) throw unwritable(out, Object.assign(new Error('exists'), { code: 'EEXIST' }));
}

/** A second name is refused where there is such a file; a new name would take its place without a word. */
async function publish(unfinished: string, out: string): Promise<void> {
  const named = await link(unfinished, out).then(
    () => true,
    () => false,
  );
  if (named) return;
  // There is such a file; or the file system knows no second names (memory sticks, network drives).
  await (await create(out, out)).close();
  const forget = runAtExit(() => rmSync(out, { force: true }));
  try {
    await rename(unfinished, out);
  } catch (error) {
    await rm(out, { force: true });
    throw new OutputError(out, error);
  } finally {
    forget();
  }
}

function create(path: string, out: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(out, error);
  });
}

function unwritable(out: string, error: unknown): InputError {
  const whyUnwritable =
    codeOf(error) === 'EACCES' ? 'this user may not write there' : unreadableReason(error, out);
  const why = codeOf(error) === 'EEXIST' ? 'it is there already' : whyUnwritable;
  return new InputError([{ where: out, what: `The file cannot be written (${why}).` }], { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
