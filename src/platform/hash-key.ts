import { chmodSync, existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { unreadableReason } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import { findHome, requireHome } from './project.ts';
import type { Environment } from './secrets.ts';

/** Characters of a key; one of fewer could be tried out. */
const minKeyLength = 32;

/**
 * The key of hashed suppressions: VOLLEY_HASH_KEY, else what is in the file `hash-key` beside the ledger's data
 * (`findHome`).
 *
 * @throws InputError when it is too short, or the file cannot be read
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
 * As `readHashKey`; makes a key where there is none, in that file, for the embedded server alone: what other machines
 * use too is to be known to them.
 *
 * @param randomBytes source of the new key
 * @returns the key, and the file that was made for it
 * @throws InputError when there is none and DATABASE_URL is set
 */
export function ensureHashKey(
  environment: Environment,
  workingFolder: string,
  randomBytes: (size: number) => Buffer,
): { readonly made: string | undefined } {
  if (readHashKey(environment, workingFolder)) return { made: undefined };
  if (environment['DATABASE_URL']) {
    const what =
      'Suppressed addresses are kept as hashes with a key that is not in the database. Set it to a random text of 64 characters, such as from `openssl rand -hex 32`, here and wherever Volley works with this database, and keep a copy of it.';
    throw new InputError([{ where: 'VOLLEY_HASH_KEY', what }]);
  }
  const file = hashKeyFile(requireHome(environment, workingFolder));
  makeFolder(dirname(file));
  // Whole or not at all, and never in place of one that another process has just made.
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
  // The value itself is not repeated.
  const what = `The key of hashed suppressions has ${text.length} characters; it needs at least ${minKeyLength}, at random.`;
  throw new InputError([{ where, what }]);
}
