import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasCode } from './file-error.ts';

/**
 * Makes a folder, and those above it that are missing. Node's own `recursive` never returns where the system answers
 * ENOENT below a folder that exists, as in /proc.
 *
 * @param mode of the last folder
 * @returns false where it was there already
 * @throws Error of the system when one of them cannot be made, or is a file
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
