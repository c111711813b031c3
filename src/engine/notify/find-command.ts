import { readFile, realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import type { Settings } from '../settings.ts';

/** A command that may be run, in this folder; or why it is not run by this process. */
export type FoundCommand =
  | { readonly kind: 'found'; readonly folder: string }
  | { readonly kind: 'not here'; readonly problem: string };

export type Allowed = {
  readonly settings: Settings;
  readonly campaigns: string;
  readonly ownCampaign: string | undefined;
};

export type FindCommand = typeof findCommand;

/**
 * Looks for a command in its campaign's file. Whoever can write into the ledger, or plan a campaign from elsewhere, could
 * otherwise have commands run on each machine. So the file decides, not the ledger: it has to be in the folder of
 * campaigns, wherever links lead, or be the one that this process was told to run; and it has to say this very command.
 *
 * @param file absolute; undefined where it is not known
 */
export async function findCommand(
  file: string | undefined,
  command: readonly string[],
  allowed: Allowed,
): Promise<FoundCommand> {
  const real = file && (await realPath(file));
  if (!real) return notHere("the campaign's file is not on this machine");
  if (!(await isAllowed(real, allowed))) {
    return notHere(
      "the campaign's file is not in this process's folder of campaigns, and commands are run from no other; put it there, or name its folder with --campaigns",
    );
  }
  const says = await readFile(real, 'utf8').then(
    (source) => hasCommand(source, real, command),
    () => false,
  );
  return says
    ? { kind: 'found', folder: dirname(real) }
    : notHere("the campaign's file on this machine has no such command");
}

function notHere(problem: string): FoundCommand {
  return { kind: 'not here', problem };
}

async function isAllowed(real: string, { settings, campaigns, ownCampaign }: Allowed): Promise<boolean> {
  const here = (path: string) => realPath(resolve(settings.workingFolder, path));
  if (ownCampaign !== undefined && (await here(ownCampaign)) === real) return true;
  const folder = await here(campaigns);
  if (folder === undefined) return false;
  const way = relative(folder, real).split(sep);
  return way[0] !== '..' && way[0] !== '';
}

function hasCommand(source: string, file: string, command: readonly string[]): boolean {
  try {
    const { notify = [] } = readCampaign(source, file).value;
    const wanted = JSON.stringify(command);
    return notify.some((target) => JSON.stringify(target.command) === wanted);
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

/** Where a path leads; undefined where it leads nowhere. */
function realPath(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}
