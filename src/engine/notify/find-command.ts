import { readFile, realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import type { Settings } from '../settings.ts';

/** A command that may be run, in this folder; or why it is not run by this process. */
export type FoundCommand =
  | { readonly kind: 'found'; readonly folder: string }
  | { readonly kind: 'unavailable'; readonly problem: string };

export type CommandScope = {
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
  allowed: CommandScope,
): Promise<FoundCommand> {
  const realFile = file && (await realPath(file));
  if (!realFile) return unavailable("the campaign's file is not on this machine");
  if (!(await isAllowed(realFile, allowed))) {
    return unavailable(
      "the campaign's file is not in this process's folder of campaigns, and commands are run from no other; put it there, or name its folder with --campaigns",
    );
  }
  const isInFile = await readFile(realFile, 'utf8').then(
    (source) => hasCommand(source, realFile, command),
    () => false,
  );
  return isInFile
    ? { kind: 'found', folder: dirname(realFile) }
    : unavailable("the campaign's file on this machine has no such command");
}

function unavailable(problem: string): FoundCommand {
  return { kind: 'unavailable', problem };
}

async function isAllowed(
  realFile: string,
  { settings, campaigns, ownCampaign }: CommandScope,
): Promise<boolean> {
  const fromWorkingFolder = (path: string) => realPath(resolve(settings.workingFolder, path));
  if (ownCampaign !== undefined && (await fromWorkingFolder(ownCampaign)) === realFile) return true;
  const folder = await fromWorkingFolder(campaigns);
  if (folder === undefined) return false;
  const pathInFolder = relative(folder, realFile).split(sep);
  return pathInFolder[0] !== '..' && pathInFolder[0] !== '';
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
