/** Whether an error carries this code of the system (`ENOENT`, …) or of Postgres. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Why a file could not be read, as half a sentence for people: "it does not exist". */
export function whyUnreadable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'it does not exist';
  if (code === 'EACCES') return 'this user may not read it';
  if (code === 'EISDIR') return 'it is a folder';
  // The words of the system would name the folders of this machine.
  if (code === 'ENAMETOOLONG') return 'its name is too long';
  if (code === 'ELOOP') return 'its links lead in a circle';
  return error instanceof Error ? error.message : String(error);
}
