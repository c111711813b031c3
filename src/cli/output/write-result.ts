import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, link, lstat, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InputError } from '../../domain/problems.ts';
import { hasCode, unreadableReason } from '../../platform/file-error.ts';
import { runAtExit } from '../../platform/run-at-exit.ts';
import type { Shell } from '../shell.ts';
import { OutputError, standardOutput } from './output-error.ts';

/**
 * Writes a result to standard output, or to a new file that only this user can read and that is complete when it has its
 * name.
 *
 * @throws InputError when the file cannot be made; OutputError when writing fails
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
  const out = await requireNewFile({ settings }, named);
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

/**
 * Before long work, whose result would be lost.
 *
 * @throws InputError when the file exists
 */
export async function requireNewFile({ settings }: Pick<Shell, 'settings'>, named: string): Promise<string> {
  const { workingFolder } = settings;
  // Messages quote the user's name of the file.
  const out = workingFolder === process.cwd() ? named : resolve(workingFolder, named);
  await refuseExisting(out);
  return out;
}

/** @throws OutputError for a failed write, or the error of the source */
async function writePieces(
  pieces: AsyncIterable<string | Uint8Array>,
  to: NodeJS.WritableStream,
  where: string,
  options: { readonly end?: boolean } = {},
): Promise<void> {
  let failed: unknown;
  const recordError = (error: unknown): void => {
    failed ??= error;
  };
  to.once('error', recordError);
  try {
    await pipeline(Readable.from(pieces), to, options);
  } catch (error) {
    throw error === failed ? new OutputError(where, error) : error;
  } finally {
    to.off('error', recordError);
  }
}

async function refuseExisting(out: string): Promise<void> {
  const found = await lstat(out).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw unwritable(out, error);
  });
  if (found) throw unwritable(out, Object.assign(new Error('exists'), { code: 'EEXIST' }));
}

/** A link fails if the name exists; a rename would replace it silently. */
async function publish(unfinished: string, out: string): Promise<void> {
  const named = await link(unfinished, out).then(
    () => true,
    () => false,
  );
  if (named) return;
  // The name exists, or the file system has no links.
  await (await create(out, out)).close();
  const cancelCleanUp = runAtExit(() => rmSync(out, { force: true }));
  try {
    await rename(unfinished, out);
  } catch (error) {
    await rm(out, { force: true });
    throw new OutputError(out, error);
  } finally {
    cancelCleanUp();
  }
}

function create(path: string, out: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((error: unknown) => {
    throw unwritable(out, error);
  });
}

function unwritable(out: string, error: unknown): InputError {
  const whyUnwritable = hasCode(error, 'EACCES')
    ? 'this user cannot write there'
    : unreadableReason(error, out);
  const why = hasCode(error, 'EEXIST')
    ? 'it exists already; remove it or choose another name'
    : whyUnwritable;
  return new InputError([{ where: out, what: `The file cannot be written (${why}).` }], { cause: error });
}
