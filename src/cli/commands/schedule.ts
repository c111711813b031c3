import { join, resolve } from 'node:path';
import { InputError } from '../../domain/problems.ts';
import type { ScheduleFolder } from '../../engine/schedule/schedule-folder.ts';
import { argument, defineCommand, defineGroup, flag, option } from '../command.ts';
import { parseWholeNumber } from '../option-readers.ts';
import { campaignsFolder, campaignsOption, jsonFlag } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

const formerFolder = argument('[folder]', '', { retired: '`--campaigns <folder>`' });

const sync = defineCommand({
  description: 'Reads the schedules of the campaigns into the ledger, as workers do, and prints mistakes.',
  arguments: [formerFolder],
  options: [campaignsOption],
  examples: [['volley schedule sync', 'read the schedules of the project again']],
  run: async (shell, [former = campaignsFolder(shell)], { campaigns: folder = former }) => {
    const { pastTimesWarning } = await import('../../campaign/schedule.ts');
    const { recordSchedules } = await import('../../engine/schedule/record-schedules.ts');
    const read = await readFolder(shell, folder);
    await withLedger(shell, (context) => recordSchedules(context, read));
    shell.note(
      `${read.schedules.length === 1 ? '1 schedule is' : `${read.schedules.length} schedules are`} in the ledger.`,
    );
    for (const { schedule, times } of read.schedules) {
      const past = pastTimesWarning(times, shell.now());
      if (past !== undefined) shell.note(`Warning: ${join(folder, schedule)}: ${past}`);
    }
    refuseUnreadable(read, folder);
  },
});

const list = defineCommand({
  description: 'Lists the schedules, and the results of their latest ticks.',
  options: [
    option('--limit <number>', 'maximum of ticks', { read: parseWholeNumber, default: 20 }),
    flag('--json', 'print JSON, one object a line: schedules, then ticks'),
  ],
  examples: [['volley schedule list', 'see what was started, and when']],
  run: async (shell, _, { limit, json }) => {
    const { describeSchedules } = await import('../../engine/schedule/describe-campaigns.ts');
    const { listUnacknowledgedTicks } = await import('../../ledger/notifications/list.ts');
    const { tickNotificationLines } = await import('../../report/notifications.ts');
    const { scheduleColumns, tickColumns } = await import('../../report/lists/schedules.ts');
    const { printRows } = await import('../output/print-list.ts');
    const { schedules, ticks, unacknowledged } = await withLedgerToRead(shell, async (context) => ({
      ...(await describeSchedules(context, limit)),
      unacknowledged: await listUnacknowledgedTicks(context.ledger.pool, limit),
    }));
    const none = 'No schedules yet. A campaign has one under `schedule`.';
    printRows(shell, json, { columns: scheduleColumns, none }, schedules);
    if (ticks.length > 0 && (json || schedules.length > 0)) {
      if (!json) shell.print('');
      printRows(shell, json, { columns: tickColumns, none }, ticks);
    }
    for (const line of tickNotificationLines(unacknowledged)) shell.note(line);
  },
});

const next = defineCommand({
  description: 'Lists the next ticks of campaigns, from their files.',
  arguments: [formerFolder],
  options: [
    campaignsOption,
    option('--limit <number>', 'maximum of ticks', { read: parseWholeNumber, default: 10 }),
    jsonFlag,
  ],
  examples: [['volley schedule next --limit 5', 'see the next five starts']],
  run: async (shell, [former = campaignsFolder(shell)], { campaigns: folder = former, limit, json }) => {
    const { upcomingColumns } = await import('../../report/lists/schedules.ts');
    const { printRows } = await import('../output/print-list.ts');
    const read = await readFolder(shell, folder);
    const upcoming = await upcomingOf(read, shell.now(), limit);
    printRows(shell, json, { columns: upcomingColumns, none: 'No campaign has a next tick.' }, upcoming);
    refuseUnreadable(read, folder);
  },
});

export const command = defineGroup(
  'Lists and updates campaigns with a `schedule`, which run by themselves while a `volley worker` runs. Each tick makes one run, with any number of workers.',
  { sync, list, next },
);

async function readFolder({ settings }: Shell, folder: string): Promise<ScheduleFolder> {
  const { readScheduleFolder } = await import('../../engine/schedule/schedule-folder.ts');
  return readScheduleFolder(resolve(settings.workingFolder, folder));
}

/** @param folder as the user wrote it */
function refuseUnreadable({ unreadable }: ScheduleFolder, folder: string): void {
  if (unreadable.length === 0) return;
  throw new InputError(
    unreadable.map(({ schedule, what }) => {
      // A message such as `night.yaml:6:19: …` starts with its position.
      const rest = what.startsWith(`${schedule}:`) ? what.slice(schedule.length) : '';
      const position = /^(?::\d+)+(?=: )/.exec(rest)?.[0] ?? '';
      return {
        where: join(folder, schedule) + position,
        what: position === '' ? what : rest.slice(position.length + 2),
      };
    }),
  );
}

async function upcomingOf({ schedules }: ScheduleFolder, now: Date, limit: number) {
  const { nextTicks } = await import('../../engine/schedule/describe-campaigns.ts');
  return schedules
    .flatMap(({ schedule, campaign, times }) =>
      nextTicks(times, now, limit).map((dueAt) => ({ schedule, campaign, dueAt, timeZone: times.timeZone })),
    )
    .sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
    .slice(0, limit);
}
