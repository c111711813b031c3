import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** The code of an error of the system, of Postgres or of a package. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Half a sentence that says why a file cannot be read, such as "it does not exist".
 *
 * @param written the path as the user wrote it, for naming a missing folder
 */
export function unreadableReason(error: unknown, written?: string): string {
  const code = codeOf(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const folder = written === undefined ? undefined : missingFolder(error, written);
    return folder ?? 'it does not exist';
  }
  if (code === 'EACCES') return 'you have no permission to read it';
  if (code === 'EISDIR') return 'it is a folder';
  // The system's message would contain folders of this machine.
  if (code === 'ENAMETOOLONG') return 'its name is too long';
  if (code === 'ELOOP') return 'its symbolic links form a loop';
  if (code === 'ENOSPC') return 'the disk is full';
  // The error's message contains the absolute path.
  if (code !== undefined && /^E[A-Z]+$/.test(code)) return `system error ${code}`;
  return errorMessage(error);
}

/** Undefined if only the file is missing. */
function missingFolder(error: unknown, written: string): string | undefined {
  const path = error instanceof Error && 'path' in error ? error.path : undefined;
  if (typeof path !== 'string') return undefined;
  let [missing, shown] = [resolve(path), written];
  for (let [folder, shownFolder] = [dirname(missing), dirname(shown)]; folder !== missing; ) {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found?.isDirectory()) return missing === resolve(path) ? undefined : `there is no folder ${shown}`;
    if (found) return `${shownFolder} is a file, not a folder`;
    [missing, shown] = [folder, shownFolder];
    [folder, shownFolder] = [dirname(folder), dirname(shownFolder)];
  }
  return undefined;
}
