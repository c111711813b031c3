import { join, resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { nextTick, type Schedule } from '../../campaign/schedule.ts';
import { InputError } from '../../domain/problems.ts';
import { describeSchedules } from '../../engine/schedule/describe-schedules.ts';
import { recordSchedules } from '../../engine/schedule/record-schedules.ts';
import { readScheduleFolder, type ScheduleFolder } from '../../engine/schedule/schedule-folder.ts';
import { listUnacknowledgedTicks } from '../../ledger/notifications/list.ts';
import { tickNotificationLines } from '../../report/notifications.ts';
import { scheduleTable, tickTable, upcomingTable } from '../../report/schedules.ts';
import { campaignsFolder, parseWholeNumber } from '../options.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command.description(
    'Campaigns with a `schedule` run by themselves, as long as a `volley worker` is there: each of their times makes one run, however many workers there are.',
  );
  command
    .command('sync')
    .description(
      'Reads the schedules of a folder of campaigns into the ledger, as workers do every few seconds, and says what is wrong with them.',
    )
    .addArgument(folderArgument(shell))
    .action(async (folder: string) => {
      const read = await readScheduleFolder(resolve(shell.settings.workingFolder, folder));
      await withLedger(shell, (context) => recordSchedules(context, read));
      shell.note(`${read.schedules.length} schedules are in the ledger.`);
      refuseUnreadable(read, folder);
    });
  command
    .command('list')
    .description('Lists the schedules, and what became of their latest times.')
    .option('--limit <number>', 'most times to list', parseWholeNumber, 20)
    .option('--json', 'print one JSON object a line: the schedules, then the times')
    .action(async ({ limit, json }: { limit: number; json?: true }) => {
      const { schedules, ticks, untold } = await withLedgerToRead(shell, async (context) => ({
        ...(await describeSchedules(context, limit)),
        untold: await listUnacknowledgedTicks(context.ledger.pool, limit),
      }));
      if (json) for (const each of [...schedules, ...ticks]) shell.print(JSON.stringify(each));
      else if (schedules.length === 0) shell.print('No schedules yet. A campaign has one under `schedule`.');
      else
        shell.print(
          [
            scheduleTable(schedules, shell.screen),
            ...(ticks.length > 0 ? [tickTable(ticks, shell.screen)] : []),
          ].join('\n\n'),
        );
      for (const line of tickNotificationLines(untold)) shell.note(line);
    });
  command
    .command('next')
    .description('Lists when campaigns will run next, as their files say now; the ledger is not asked.')
    .addArgument(folderArgument(shell))
    .option('--limit <number>', 'most times to list', parseWholeNumber, 10)
    .option('--json', 'print one JSON object a line')
    .action(async (folder: string, { limit, json }: { limit: number; json?: true }) => {
      const read = await readScheduleFolder(resolve(shell.settings.workingFolder, folder));
      const upcoming = upcomingOf(read, shell.now(), limit);
      if (json) for (const each of upcoming) shell.print(JSON.stringify(each));
      else
        shell.print(
          upcoming.length === 0 ? 'Nothing is to run by itself.' : upcomingTable(upcoming, shell.screen),
        );
      refuseUnreadable(read, folder);
    });
}

function folderArgument(shell: Shell): Argument {
  return new Argument('[folder]', 'where the campaigns are').default(
    campaignsFolder(shell),
    "the project's campaigns",
  );
}

/** @throws InputError that names the campaigns whose schedule cannot be read. @param folder as it was named */
function refuseUnreadable({ unreadable }: ScheduleFolder, folder: string): void {
  if (unreadable.length === 0) return;
  throw new InputError(
    unreadable.map(({ schedule, what }) => {
      // With its place in the file, where that is told: `night.yaml:6:19: …`.
      const told = what.startsWith(`${schedule}:`) ? what.slice(schedule.length) : '';
      const place = /^(?::\d+)+(?=: )/.exec(told)?.[0] ?? '';
      return {
        where: join(folder, schedule) + place,
        what: place === '' ? what : told.slice(place.length + 2),
      };
    }),
  );
}

function upcomingOf({ schedules }: ScheduleFolder, now: Date, limit: number) {
  return schedules
    .flatMap(({ schedule, campaign, times }) =>
      following(times, now, limit).map((dueAt) => ({ schedule, campaign, dueAt, timeZone: times.timeZone })),
    )
    .sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
    .slice(0, limit);
}

function following(times: Schedule, now: Date, count: number): Date[] {
  const ticks: Date[] = [];
  for (let tick = nextTick(times, now); tick && ticks.length < count; tick = nextTick(times, tick))
    ticks.push(tick);
  return ticks;
}
