import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './file-error.ts';

/**
 * Creates a folder and its missing parents. Node's `recursive` never returns if the system answers ENOENT
 * inside an existing folder, as in /proc.
 *
 * @param mode of the last folder
 * @returns false if the folder existed
 * @throws Error of the system
 */
export function makeFolder(path: string, mode = 0o777): boolean {
  const parent = dirname(path);
  if (!existsSync(parent)) makeFolder(parent);
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST') && statSync(path).isDirectory()) return false;
    throw error;
  }
}
