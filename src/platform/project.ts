import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { errorMessage, hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import type { Environment } from './secrets.ts';

export const projectMarker = '.volley-project';

const markerText = `This folder is a Volley project. Commands in it and its subfolders use the accounts in campaigns/ and the
ledger in .volley/ (docs/reference/settings.md). Keep this file with the campaigns.
`;

/** Returns the nearest folder with a marker: this one or a parent. */
export function findProject(workingFolder: string): string | undefined {
  for (let folder = workingFolder; ; folder = dirname(folder)) {
    const trusted = folder === workingFolder || !isWorldWritable(folder);
    if (trusted && existsSync(join(folder, projectMarker))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** Relative paths in the environment start here. */
export function projectFolder(workingFolder: string): string {
  return findProject(workingFolder) ?? workingFolder;
}

/** Any user could put a marker into such a folder, as into /tmp, and accounts that would get our secrets. */
export function isWorldWritable(folder: string): boolean {
  const status = statSync(folder, { throwIfNoEntry: false });
  return status !== undefined && (status.mode & 0o002) !== 0;
}

/** Creates the marker, and the folder for campaigns if necessary. Overwrites nothing. */
export function markProject(folder: string): { readonly made: boolean } {
  try {
    makeFolder(join(folder, 'campaigns'));
    writeFileSync(join(folder, projectMarker), markerText, { flag: 'wx' });
    return { made: true };
  } catch (error) {
    if (hasCode(error, 'EEXIST') && existsSync(join(folder, projectMarker))) return { made: false };
    const what = `The project cannot be created here (${errorMessage(error)}).`;
    throw new InputError([{ where: folder, what }], { cause: error });
  }
}

/** Returns VOLLEY_HOME, or `.volley` in the project; undefined without either. The folder need not exist. */
export function findHome(environment: Environment, workingFolder: string): string | undefined {
  const named = environment['VOLLEY_HOME'];
  if (named) return resolve(projectFolder(workingFolder), named);
  const project = findProject(workingFolder);
  return project === undefined ? undefined : join(project, '.volley');
}

/**
 * Like `findHome`.
 * @throws InputError if there is neither
 */
export function requireHome(environment: Environment, workingFolder: string): string {
  const home = findHome(environment, workingFolder);
  if (home !== undefined) return home;
  const what =
    'is in no Volley project, so there is no ledger to work with. Go to the folder of your project, or run `volley init` to make this folder one. Or name a ledger: set DATABASE_URL for Postgres, or VOLLEY_HOME for an embedded one.';
  throw new InputError([{ where: workingFolder, what }]);
}
