import type { TickState } from '../domain/runs.ts';
import type { Screen } from './screen.ts';
import { formatTable } from './table.ts';
import { formatTime, titleWithZone } from './time.ts';

type ScheduleTimes = {
  readonly cron?: string | undefined;
  readonly at?: readonly string[] | undefined;
  readonly timeZone: string;
};

export function scheduleTable(
  schedules: readonly {
    readonly schedule: string;
    readonly campaign: string;
    readonly times: ScheduleTimes;
    readonly active: boolean;
    readonly next: Date | null;
  }[],
  screen?: Screen,
): string {
  return formatTable(
    [
      { title: 'Schedule', value: ({ schedule }) => schedule },
      { title: 'Campaign', value: ({ campaign }) => campaign },
      { title: 'Times', value: ({ times: { cron, at } }) => cron ?? (at ?? []).join(', ') },
      { title: 'Zone', value: ({ times }) => times.timeZone },
      {
        title: titleWithZone(screen, 'Next'),
        value: ({ active, next }) =>
          active ? (next ? formatTime(screen, next) : 'never') : 'its file is missing',
      },
    ],
    schedules,
    [],
    screen,
  );
}

export function tickTable(
  ticks: readonly {
    readonly schedule: string;
    readonly dueAt: Date;
    readonly state: TickState;
    readonly run: string | null;
    readonly reason: string | null;
  }[],
  screen?: Screen,
): string {
  return formatTable(
    [
      { title: titleWithZone(screen, 'Time'), value: ({ dueAt }) => formatTime(screen, dueAt) },
      { title: 'Schedule', value: ({ schedule }) => schedule },
      { title: 'State', value: ({ state }) => state },
      { title: 'Run', value: ({ run }) => run ?? '' },
      { title: 'Reason', value: ({ reason }) => reason ?? '' },
    ],
    ticks,
    [],
    screen,
  );
}

export function upcomingTable(
  upcoming: readonly {
    readonly schedule: string;
    readonly campaign: string;
    readonly dueAt: Date;
    readonly timeZone: string;
  }[],
  screen?: Screen,
): string {
  return formatTable(
    [
      { title: titleWithZone(screen, 'Time'), value: ({ dueAt }) => formatTime(screen, dueAt) },
      { title: 'Zone of the schedule', value: ({ timeZone }) => timeZone },
      { title: 'Schedule', value: ({ schedule }) => schedule },
      { title: 'Campaign', value: ({ campaign }) => campaign },
    ],
    upcoming,
    [],
    screen,
  );
}
