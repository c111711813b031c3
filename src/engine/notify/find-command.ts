import { readFile, realpath } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { InputError } from '../../domain/problems.ts';
import type { Settings } from '../settings.ts';

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
 * Finds a notify command in its campaign file. The ledger alone must not decide what a machine runs. So the file must
 * be in the campaigns folder (after links are resolved) or be the campaign that this process runs, and must contain
 * exactly this command.
 *
 * @param file absolute; undefined if unknown
 */
export async function findCommand(
  file: string | undefined,
  command: readonly string[],
  allowed: CommandScope,
): Promise<FoundCommand> {
  const realFile = file && (await realPath(file));
  if (!realFile) return unavailable('the campaign file is not on this machine');
  if (!(await isAllowed(realFile, allowed))) {
    return unavailable(
      "the campaign file is not in this process's campaigns folder, and commands run only from that folder; move the file there, or name its folder with --campaigns",
    );
  }
  const isInFile = await readFile(realFile, 'utf8').then(
    (source) => hasCommand(source, realFile, command),
    () => false,
  );
  return isInFile
    ? { kind: 'found', folder: dirname(realFile) }
    : unavailable('the campaign file on this machine does not contain this command');
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

function realPath(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}
