import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Whether an error carries this code of the system (`ENOENT`, …) or of Postgres. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Why a file could not be read, as half a sentence for people: "it does not exist".
 *
 * @param written the path as the user wrote it; a folder of it that is missing is named by the same words
 */
export function unreadableReason(error: unknown, written?: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    const folder = written === undefined ? undefined : missingFolder(error, written);
    return folder ?? 'it does not exist';
  }
  if (code === 'EACCES') return 'this user may not read it';
  if (code === 'EISDIR') return 'it is a folder';
  // The words of the system would name the folders of this machine.
  if (code === 'ENAMETOOLONG') return 'its name is too long';
  if (code === 'ELOOP') return 'its links lead in a circle';
  // The message of a file's error holds its path as the system has it.
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return `the system says ${code}`;
  return error instanceof Error ? error.message : String(error);
}

/** A part of the path that is no folder, where it is not the file alone that is missing. */
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
