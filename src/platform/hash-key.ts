import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { unreadableReason } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import { findHome, requireHome } from './project.ts';
import type { Environment } from './secrets.ts';

/** In characters; shorter keys could be guessed. */
const minKeyLength = 32;

/**
 * Returns the key of hashed suppressions: VOLLEY_HASH_KEY, or the file `hash-key` beside the ledger's data
 * (`findHome`).
 *
 * @throws InputError if the key is too short, or the file cannot be read
 */
export function readHashKey(environment: Environment, workingFolder: string): Buffer | undefined {
  const named = environment['VOLLEY_HASH_KEY'];
  if (named) return validateKey(named, 'VOLLEY_HASH_KEY');
  const home = findHome(environment, workingFolder);
  if (home === undefined) return undefined;
  const file = hashKeyFile(home);
  if (!existsSync(file)) return undefined;
  try {
    return validateKey(readFileSync(file, 'utf8').trim(), file);
  } catch (error) {
    if (error instanceof InputError) throw error;
    const what = `The key of hashed suppressions cannot be read (${unreadableReason(error)}).`;
    throw new InputError([{ where: file, what }], { cause: error });
  }
}

/**
 * Like `readHashKey`, but creates a missing key in that file. Only for the embedded server, because other
 * machines could not read the file.
 *
 * @returns the file, if this call created it
 * @throws InputError if DATABASE_URL is set and there is no key
 */
export function ensureHashKey(
  environment: Environment,
  workingFolder: string,
  randomBytes: (size: number) => Buffer,
): { readonly made: string | undefined } {
  if (readHashKey(environment, workingFolder)) return { made: undefined };
  if (environment['DATABASE_URL']) {
    const what =
      'Volley stores suppressed addresses as hashes, with a key that is not in the database. Set it to 64 random characters (`openssl rand -hex 32`) on every machine that works with this database, and keep a copy.';
    throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
  }
  const file = hashKeyFile(requireHome(environment, workingFolder));
  makeFolder(dirname(file));
  // Linking creates the whole file or none, and never replaces one that another process just created.
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flush: true });
  chmodSync(unfinished, 0o600);
  try {
    linkSync(unfinished, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
  return { made: file };
}

function hashKeyFile(home: string): string {
  return join(home, 'hash-key');
}

function validateKey(text: string, where: string): Buffer {
  if (text.length >= minKeyLength) return Buffer.from(text, 'utf8');
  // Does not repeat the key.
  const what = `The key of hashed suppressions has ${text.length} characters; expected at least ${minKeyLength} random ones.`;
  throw new InputError([{ where, what }]);
}
