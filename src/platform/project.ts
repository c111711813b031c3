import { existsSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { InputError } from '../domain/problems.ts';
import { hasCode } from './file-error.ts';
import { makeFolder } from './make-folder.ts';
import type { Environment } from './secrets.ts';

export const projectMarker = '.volley-project';

const markerText = `This folder is a Volley project: commands that are started in it, or in a folder below it, work with the
accounts of its campaigns/ and the ledger in its .volley/ (docs/operations.md). Keep this file with the campaigns.
`;

/** The project that a folder is in: the nearest folder with a marker, itself or above it. */
export function findProject(workingFolder: string): string | undefined {
  for (let folder = workingFolder; ; folder = dirname(folder)) {
    const trusted = folder === workingFolder || !isWorldWritable(folder);
    if (trusted && existsSync(join(folder, projectMarker))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** What relative paths of the environment are relative to: the project, or the working folder where there is none. */
export function projectFolder(workingFolder: string): string {
  return findProject(workingFolder) ?? workingFolder;
}

/** Any user could put a marker there, as in /tmp, and accounts that our secrets would be sent to. */
function isWorldWritable(folder: string): boolean {
  const status = statSync(folder, { throwIfNoEntry: false });
  return status !== undefined && (status.mode & 0o002) !== 0;
}

/** Marks a folder as a project; makes it, and a folder for its campaigns, where there is none. Overwrites nothing. */
export function markProject(folder: string): { readonly made: boolean } {
  try {
    makeFolder(join(folder, 'campaigns'));
    writeFileSync(join(folder, projectMarker), markerText, { flag: 'wx' });
    return { made: true };
  } catch (error) {
    if (hasCode(error, 'EEXIST') && existsSync(join(folder, projectMarker))) return { made: false };
    const why = error instanceof Error ? error.message : String(error);
    throw new InputError([{ where: folder, what: `The project cannot be made here (${why}).` }], {
      cause: error,
    });
  }
}

/**
 * The folder that holds the state: VOLLEY_HOME, or `.volley` of the project; undefined where there is neither.
 * It need not exist.
 */
export function findHome(environment: Environment, workingFolder: string): string | undefined {
  const named = environment['VOLLEY_HOME'];
  if (named) return resolve(projectFolder(workingFolder), named);
  const project = findProject(workingFolder);
  return project === undefined ? undefined : join(project, '.volley');
}

/** As `findHome`. @throws InputError that says what to do, where there is neither */
export function requireHome(environment: Environment, workingFolder: string): string {
  const home = findHome(environment, workingFolder);
  if (home !== undefined) return home;
  const what =
    'is in no Volley project, so there is no ledger to work with. Go to the folder of your project; or make one of this folder (`volley init`); or name a ledger: DATABASE_URL for a Postgres, VOLLEY_HOME for the folder of an embedded one.';
  throw new InputError([{ where: workingFolder, what }]);
}
