import { chmodSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { errorMessage, hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';

export type ServerFiles = ReturnType<typeof serverFiles>;

/** Paths in a home; the files need not exist. */
export function serverFiles(home: string) {
  return {
    home,
    /** A folder, or a link if the data cannot be in the home. */
    data: join(home, 'data'),
    /** Every command that uses the server shares this lock, and writes its process token here. */
    users: join(home, 'users.lock'),
    /** Held while a command starts the server or checks whether it must. */
    start: join(home, 'start.lock'),
    log: join(home, 'server.log'),
  } as const;
}

/** Creates a missing home. Never changes the mode of an existing one. */
export function createHome(home: string): ServerFiles {
  try {
    if (makeFolder(home)) {
      // For root, the server's user must pass through the home but need not list it.
      chmodSync(home, process.getuid?.() === 0 ? 0o711 : 0o700);
      writeFileSync(join(home, '.gitignore'), '*\n');
    }
    return serverFiles(realpathSync(home));
  } catch (cause) {
    const what = `cannot be written (${errorMessage(cause)}). Set VOLLEY_HOME to a folder you can write, or set DATABASE_URL.`;
    throw new InputError([{ where: home, what }], { cause });
  }
}

/**
 * Returns undefined if there is no such file.
 * @throws InputError for another user's file
 */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT') || hasCode(cause, 'ENOTDIR')) return undefined;
    throw explainForeignFile(path, cause);
  }
}

/** Turns a permission error into an InputError with a remedy. */
export function explainForeignFile(path: string, cause: unknown): unknown {
  if (!hasCode(cause, 'EACCES')) return cause;
  const what =
    'belongs to another user. Run volley as that user, set VOLLEY_HOME to a folder of your own, or set DATABASE_URL.';
  return new InputError([{ where: path, what }], { cause });
}
