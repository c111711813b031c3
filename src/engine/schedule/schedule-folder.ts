import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { frozenTargets } from '../../campaign/notify.ts';
import type { Schedule } from '../../campaign/schedule.ts';
import { InputError } from '../../domain/problems.ts';
import type { SyncedSchedule } from '../../ledger/schedules/schedules.ts';
import { unreadableReason } from '../../platform/file-error.ts';
import { accountsPath, maxBytes } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

type ReadSchedule = SyncedSchedule & { readonly times: Schedule };

export type ScheduleFolder = {
  readonly schedules: readonly ReadSchedule[];
  /** Campaigns with a schedule that cannot be read now; what was known of them holds on. */
  readonly unreadable: readonly { readonly schedule: string; readonly what: string }[];
};

/**
 * A file without it is no campaign, or one that is not to run by itself. A key whose indentation is off counts: the file is
 * unreadable then, and not one whose schedule was taken away.
 */
const hasSchedule = /^[ \t]*["']?schedule["']?\s*:/m;

/**
 * Not of the folders in it.
 *
 * @param folder an absolute path
 * @throws InputError when the folder cannot be read
 */
export async function readScheduleFolder(folder: string): Promise<ScheduleFolder> {
  const schedules: ReadSchedule[] = [];
  const unreadable: { schedule: string; what: string }[] = [];
  for (const schedule of await listYamlFiles(folder)) {
    try {
      const source = await readFile(join(folder, schedule), 'utf8');
      if (!hasSchedule.test(source)) continue;
      if (source.length > maxBytes.campaign) {
        unreadable.push({ schedule, what: 'The file is larger than a campaign may be.' });
        continue;
      }
      const { value } = readCampaign(source, schedule);
      const { campaign, schedule: times } = value;
      if (times) schedules.push({ schedule, campaign, times, notify: frozenTargets(value) });
    } catch (error) {
      unreadable.push({ schedule, what: error instanceof Error ? error.message : String(error) });
    }
  }
  return { schedules, unreadable };
}

/**
 * The files of a folder that may be campaigns, by name; not those of the folders in it. Hidden ones are what editors and
 * copies leave behind, and whoever reads a pipe waits for ever.
 *
 * @throws InputError when the folder cannot be read
 */
export async function listYamlFiles(folder: string): Promise<string[]> {
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
 * The campaigns that can be started over the API, by name; not the accounts file, under whichever name.
 *
 * @param folder relative to the working folder
 * @throws InputError when the folder cannot be read
 */
export async function listCampaigns(folder: string, settings: Settings): Promise<string[]> {
  const path = resolve(settings.workingFolder, folder);
  const accounts = await realFile(resolve(settings.workingFolder, accountsPath(settings)));
  const names = await listYamlFiles(path);
  const realFiles = await Promise.all(names.map((name) => realFile(join(path, name))));
  return names.filter((_, position) => realFiles[position] !== undefined && realFiles[position] !== accounts);
}

/** Where a file is, links followed; undefined where there is no file, as behind a link into nowhere or to a folder. */
async function realFile(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isFile() ? await realpath(path) : undefined;
  } catch {
    return undefined;
  }
}
