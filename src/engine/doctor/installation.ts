import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finding } from '../../domain/doctor.ts';
import { findHome, findProject, projectMarker } from '../../platform/project.ts';
import { accountsPath } from '../definition-files.ts';
import type { Settings } from '../settings.ts';
import { formatBytes, notChecked, ok, type Probe, problem, warning } from './check.ts';

/** @param nodeVersion as `process.version` */
export function installationProbes(settings: Settings, nodeVersion: string): Probe[] {
  return [
    { name: 'node', ask: () => checkNode(nodeVersion) },
    { name: 'project', ask: () => checkProject(settings) },
    { name: 'state folder', ask: () => checkStateFolder(settings) },
  ];
}

/** As `engines` of package.json; a test compares them. */
export const oldestNode = [22, 19] as const;

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode;
  const wanted = `${oldestMajor}.${oldestMinor} or later`;
  const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isNewEnough) return ok(`${version}; Volley needs ${wanted}.`);
  return problem(`${version} is too old; Volley needs ${wanted}.`, 'Install it from https://nodejs.org.');
}

function checkProject(settings: Settings): Finding {
  const { environment, workingFolder, envFiles = [] } = settings;
  const project = findProject(workingFolder);
  const files = envFiles.length === 0 ? 'no .env' : envFiles.join(', ');
  const sources = `Accounts: ${accountsPath(settings)}. Settings: the environment, ${files}.`;
  if (project !== undefined) return ok(`${project}. ${sources}`);
  const found = `${workingFolder} is in no Volley project (no ${projectMarker})`;
  if (environment['DATABASE_URL'] || environment['VOLLEY_HOME'])
    return ok(`${found}; the environment names the ledger. ${sources}`);
  return problem(`${found}.`, 'Go to the folder of your project, or make one: `volley init`.');
}

/** Bytes of free disk. A million recipients take some hundred megabytes. */
const roomLimits = { warning: 2e9, problem: 256e6 } as const;

export function checkRoom(free: number, where: string): Finding {
  const found = `${formatBytes(free)} free on the disk of ${where}.`;
  const nextStep =
    'Make room there, or erase old runs: `volley purge --older-than 90d --dry-run` shows what it would erase.';
  if (free < roomLimits.problem) return problem(found, nextStep);
  return free < roomLimits.warning ? warning(found, nextStep) : ok(found);
}

export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Where claim marks are kept (docs/how-to/backup.md). The folder may not exist yet. */
function checkStateFolder({ environment, workingFolder }: Settings): Finding {
  const home = findHome(environment, workingFolder);
  if (home === undefined) {
    if (!environment['DATABASE_URL']) return notChecked('There is no project and no VOLLEY_HOME.');
    return warning(
      'There is none, so this machine does not remember its last claims, and cannot notice that the ledger was restored.',
      'Set VOLLEY_HOME to a folder that outlives the process, such as /var/lib/volley.',
    );
  }
  const folder = nearestFolder(home);
  if (!isWritable(folder))
    return problem(
      `${folder} is not writable for this user, so claim marks cannot be kept.`,
      `Run Volley as the owner of the folder, or set VOLLEY_HOME to a folder of your own.`,
    );
  return checkRoom(freeBytes(folder), home);
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
