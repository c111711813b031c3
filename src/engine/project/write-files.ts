import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { errorMessage, hasCode } from '../../platform/file-error.ts';
import { makeFolder } from '../../platform/make-folder.ts';
import type { ProjectFile } from './project-files.ts';

export type WrittenFile = Pick<ProjectFile, 'path' | 'what'> & { readonly made: boolean };

/**
 * Overwrites nothing.
 *
 * @throws InputError if a file cannot be written
 */
export function writeProjectFiles(folder: string, files: readonly ProjectFile[]): WrittenFile[] {
  return files.map(({ path, text, mode, what }) => ({
    path,
    what,
    made: writeNew(join(folder, path), text, mode),
  }));
}

function writeNew(path: string, text: string, mode: number | undefined): boolean {
  try {
    makeFolder(dirname(path));
    writeFileSync(path, text, { flag: 'wx', ...(mode !== undefined && { mode }) });
    // Also where the process's mask would take the owner's rights.
    if (mode !== undefined) chmodSync(path, mode);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    const why = errorMessage(error);
    throw new InputError([{ where: path, what: `The file cannot be written (${why}).` }], { cause: error });
  }
}

/** Whether a folder has a campaign or an accounts file. */
export function hasCampaigns(folder: string): boolean {
  try {
    return readdirSync(join(folder, 'campaigns')).some((name) => /\.ya?ml$/.test(name));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false;
    throw error;
  }
}
