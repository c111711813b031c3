import { readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import { whyUnreadable } from '../../platform/file-error.ts';
import { accountsPath } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/**
 * The files of a folder that may be campaigns, by name; not those of the folders in it. Hidden ones are what editors and
 * copies leave behind, and whoever reads a pipe waits for ever.
 *
 * @throws InputError when the folder cannot be read
 */
export async function yamlFilesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    const what = `The folder of campaigns cannot be read (${whyUnreadable(error, folder)}).`;
    throw new InputError([{ where: folder, what }]);
  });
  return entries
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && /^[^.].*\.ya?ml$/.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

/**
 * The campaigns that can be started over the API, by name; not the accounts file, under whichever name.
 *
 * @param folder relative to the working folder
 * @throws InputError when the folder cannot be read
 */
export async function listCampaigns(folder: string, settings: Settings): Promise<string[]> {
  const path = resolve(settings.workingFolder, folder);
  const accounts = await placeOf(resolve(settings.workingFolder, accountsPath(settings)));
  const names = await yamlFilesOf(path);
  const places = await Promise.all(names.map((name) => placeOf(join(path, name))));
  return names.filter((_, position) => places[position] !== undefined && places[position] !== accounts);
}

/** Where a file is, links followed; undefined where there is no file, as behind a link into nowhere or to a folder. */
async function placeOf(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isFile() ? await realpath(path) : undefined;
  } catch {
    return undefined;
  }
}
