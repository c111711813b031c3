import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCampaign } from '../../campaign/campaign.ts';
import { frozenTargets } from '../../campaign/notify.ts';
import type { Schedule } from '../../campaign/schedule.ts';
import type { SyncedSchedule } from '../../ledger/schedules/schedules.ts';
import { mostBytes } from '../definition-files.ts';
import { yamlFilesOf } from './served-campaigns.ts';

type ReadSchedule = SyncedSchedule & { readonly times: Schedule };

/** What the campaigns of a folder say of when they run by themselves. */
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
 * Reads the campaigns of a folder, not of the folders in it.
 *
 * @param folder an absolute path
 * @throws InputError when the folder cannot be read
 */
export async function readScheduleFolder(folder: string): Promise<ScheduleFolder> {
  const schedules: ReadSchedule[] = [];
  const unreadable: { schedule: string; what: string }[] = [];
  for (const schedule of await yamlFilesOf(folder)) {
    try {
      const source = await readFile(join(folder, schedule), 'utf8');
      if (!hasSchedule.test(source)) continue;
      if (source.length > mostBytes.campaign) {
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
