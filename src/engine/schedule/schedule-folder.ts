import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { freezeTargets } from '../../campaign/notify.ts';
import type { Schedule } from '../../campaign/schedule.ts';
import { InputError } from '../../domain/problems.ts';
import type { SyncedSchedule } from '../../ledger/schedules/schedules.ts';
import { digestOf } from '../../platform/digest.ts';
import { errorMessage, unreadableReason } from '../../platform/file-error.ts';
import { listNames } from '../../platform/suggestions.ts';
import { accountsPath, maxBytes } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

type ReadSchedule = Omit<SyncedSchedule, 'putInBy'> & {
  readonly times: Schedule;
  /** User id of the owner of the file. */
  readonly ownerId: number;
};

type FoundSchedule = { readonly read: ReadSchedule; readonly where: string };

export type ScheduleFolder = {
  readonly schedules: readonly ReadSchedule[];
  /** Campaigns that cannot be read now, or whose name is in several files; their last known schedule applies. */
  readonly unreadable: readonly { readonly schedule: string; readonly what: string }[];
};

/**
 * Files without this key have no schedule. A key with wrong indentation matches, so its file is unreadable, not
 * without a schedule.
 */
const hasSchedule = /^[ \t]*["']?schedule["']?\s*:/m;

/**
 * @param folder an absolute path
 * @throws InputError when the folder cannot be read
 */
export async function readScheduleFolder(folder: string): Promise<ScheduleFolder> {
  const found: FoundSchedule[] = [];
  const unreadable: { schedule: string; what: string }[] = [];
  for (const schedule of await listYamlFiles(folder)) {
    try {
      const path = join(folder, schedule);
      const source = await readFile(path, 'utf8');
      if (!hasSchedule.test(source)) continue;
      if (source.length > maxBytes.campaign) {
        unreadable.push({ schedule, what: 'The file is larger than a campaign can be.' });
        continue;
      }
      const { value, locate } = readCampaign(source, schedule);
      const { campaign, schedule: times } = value;
      if (!times) continue;
      const { uid: ownerId } = await stat(path);
      const notify = freezeTargets(value);
      const fileSha256 = digestOf(source);
      found.push({
        read: { schedule, campaign, times, notify, fileSha256, ownerId },
        where: locate(['campaign']),
      });
    } catch (error) {
      unreadable.push({ schedule, what: errorMessage(error) });
    }
  }
  const { schedules, copies } = separateCopies(found);
  return { schedules, unreadable: [...unreadable, ...copies] };
}

/**
 * A tick may repeat an earlier run, so a copy of a scheduled file would send every message twice. Of files with the same
 * campaign, the one that is in the ledger already keeps its times, and a new one gets none.
 */
function separateCopies(found: readonly FoundSchedule[]): {
  readonly schedules: readonly ReadSchedule[];
  readonly copies: ScheduleFolder['unreadable'];
} {
  const byCampaign = Map.groupBy(found, ({ read: { campaign } }) => campaign);
  const groups = [...byCampaign.values()];
  return {
    schedules: groups.flatMap((group) => (group.length === 1 ? group.map(({ read }) => read) : [])),
    copies: groups.flatMap((group) =>
      group.length === 1 ? [] : group.map((each) => copyProblem(each, group)),
    ),
  };
}

function copyProblem({ read, where }: FoundSchedule, group: readonly FoundSchedule[]) {
  const { schedule, campaign } = read;
  const others = group.map((each) => each.read.schedule).filter((name) => name !== schedule);
  const what = `${where}: The campaign "${campaign}" has a schedule in ${listNames(others)} too, so its messages could be sent twice. Remove one of the files or its "schedule", or give one of the campaigns another name.`;
  return { schedule, what };
}

/**
 * Skips hidden files, left by editors, and pipes, which would block.
 *
 * @throws InputError when the folder cannot be read
 */
async function listYamlFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    const what = `The folder of campaigns cannot be read (${unreadableReason(error, folder)}).`;
    throw new InputError([{ where: folder, what }]);
  });
  return entries
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && /^[^.].*\.ya?ml$/.test(entry.name))
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Campaigns that the API can start.
 *
 * @param folder relative to the working folder
 * @throws InputError when the folder cannot be read
 */
export async function listCampaigns(folder: string, settings: Settings): Promise<string[]> {
  const path = resolve(settings.workingFolder, folder);
  const accounts = await realFile(resolve(settings.workingFolder, accountsPath(settings)));
  const names = await listYamlFiles(path);
  const realFiles = await Promise.all(names.map((name) => realFile(join(path, name))));
  return names.filter((_, index) => realFiles[index] !== undefined && realFiles[index] !== accounts);
}

/** Resolves links. @returns undefined for a folder or a broken link */
async function realFile(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isFile() ? await realpath(path) : undefined;
  } catch {
    return undefined;
  }
}
