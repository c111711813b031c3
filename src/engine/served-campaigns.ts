import { readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { InputError } from '../domain.ts';
import { whyUnreadable } from '../platform/file-error.ts';
import { accountsPath } from './prepare.ts';
import type { Settings } from './settings.ts';

/**
 * The files of a folder that may be campaigns, by name; not those of the folders in it, and not the accounts file.
 *
 * @param folder relative to the working folder
 * @throws InputError when the folder cannot be read
 */
export async function listCampaigns(folder: string, settings: Settings): Promise<string[]> {
  const path = resolve(settings.workingFolder, folder);
  const accounts = resolve(settings.workingFolder, accountsPath(settings));
  const entries = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
    const what = `The folder of campaigns cannot be read (${whyUnreadable(error)}).`;
    throw new InputError([{ where: folder, what }]);
  });
  return entries
    .filter((entry) => !entry.isDirectory() && /\.ya?ml$/.test(entry.name))
    .map(({ name }) => name)
    .filter((name) => join(path, name) !== accounts)
    .toSorted();
}
