import { chmodSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';

export type ServerFiles = ReturnType<typeof serverFiles>;

/** The files of a home, whether they exist or not. */
export function serverFiles(home: string) {
  return {
    home,
    /** The folder of the data, or a link to it where it could not be in the home. */
    data: join(home, 'data'),
    /** Shared by every command that uses the server. It has their numbers. */
    users: join(home, 'users.lock'),
    /** Had alone by the command that starts the server, or looks whether it has to. */
    start: join(home, 'start.lock'),
    log: join(home, 'server.log'),
  } as const;
}

/** Makes the home where there is none, and returns its files under its real path. A home that exists keeps its mode. */
export function createHome(home: string): ServerFiles {
  try {
    if (makeFolder(home)) {
      // As root the server is another user, who must pass through the home to its data but needs to list nothing.
      chmodSync(home, process.getuid?.() === 0 ? 0o711 : 0o700);
      writeFileSync(join(home, '.gitignore'), '*\n');
    }
    return serverFiles(realpathSync(home));
  } catch (cause) {
    const what = `cannot be written (${errorMessage(cause)}). Set VOLLEY_HOME to a folder you may write, or set DATABASE_URL.`;
    throw new InputError([{ where: home, what }], { cause });
  }
}

/** The text of a file, undefined when there is none. Another user's file is an InputError. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT') || hasCode(cause, 'ENOTDIR')) return undefined;
    throw explainForeignFile(path, cause);
  }
}

/** An error of the system, turned into an InputError with a remedy if it says that a file is another user's. */
export function explainForeignFile(path: string, cause: unknown): unknown {
  if (!hasCode(cause, 'EACCES')) return cause;
  const what =
    'belongs to another user. Run volley as that user, set VOLLEY_HOME to a folder of your own, or set DATABASE_URL.';
  return new InputError([{ where: path, what }], { cause });
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
