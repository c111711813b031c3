import { join, resolve } from 'node:path';
import { pastTimesWarning } from '../../campaign/schedule.ts';
import { InputError } from '../../domain/problems.ts';
import { nextTicks } from '../../engine/schedule/describe-campaigns.ts';
import { describeSchedules } from '../../engine/schedule/describe-schedules.ts';
import { recordSchedules } from '../../engine/schedule/record-schedules.ts';
import { readScheduleFolder, type ScheduleFolder } from '../../engine/schedule/schedule-folder.ts';
import { listUnacknowledgedTicks } from '../../ledger/notifications/list.ts';
import { tickNotificationLines } from '../../report/notifications.ts';
import { scheduleTable, tickTable, upcomingTable } from '../../report/schedules.ts';
import { type Shell, withLedger, withLedgerToRead } from '../shell.ts';

export async function syncAction(shell: Shell, folder: string): Promise<void> {
  const read = await readScheduleFolder(resolve(shell.settings.workingFolder, folder));
  await withLedger(shell, (context) => recordSchedules(context, read));
  shell.note(
    `${read.schedules.length === 1 ? '1 schedule is' : `${read.schedules.length} schedules are`} in the ledger.`,
  );
  for (const { schedule, times } of read.schedules) {
    const past = pastTimesWarning(times, shell.now());
    if (past !== undefined) shell.note(`Warning: ${join(folder, schedule)}: ${past}`);
  }
  refuseUnreadable(read, folder);
}

export async function listAction(
  shell: Shell,
  { limit, json }: { limit: number; json?: true },
): Promise<void> {
  const { schedules, ticks, unacknowledged } = await withLedgerToRead(shell, async (context) => ({
    ...(await describeSchedules(context, limit)),
    unacknowledged: await listUnacknowledgedTicks(context.ledger.pool, limit),
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
  for (const line of tickNotificationLines(unacknowledged)) shell.note(line);
}

export async function nextAction(
  shell: Shell,
  folder: string,
  { limit, json }: { limit: number; json?: true },
): Promise<void> {
  const read = await readScheduleFolder(resolve(shell.settings.workingFolder, folder));
  const upcoming = upcomingOf(read, shell.now(), limit);
  if (json) for (const each of upcoming) shell.print(JSON.stringify(each));
  else
    shell.print(
      upcoming.length === 0 ? 'No campaign has a next tick.' : upcomingTable(upcoming, shell.screen),
    );
  refuseUnreadable(read, folder);
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

function upcomingOf({ schedules }: ScheduleFolder, now: Date, limit: number) {
  return schedules
    .flatMap(({ schedule, campaign, times }) =>
      nextTicks(times, now, limit).map((dueAt) => ({ schedule, campaign, dueAt, timeZone: times.timeZone })),
    )
    .sort((one, other) => one.dueAt.getTime() - other.dueAt.getTime())
    .slice(0, limit);
}
