import type { TickState } from '../domain/runs.ts';
import type { Screen } from './screen.ts';
import { table } from './table.ts';
import { inZoneOf, timeOn } from './time.ts';

type Times = {
  readonly cron?: string | undefined;
  readonly at?: readonly string[] | undefined;
  readonly timeZone: string;
};

export function scheduleTable(
  schedules: readonly {
    readonly schedule: string;
    readonly campaign: string;
    readonly times: Times;
    readonly active: boolean;
    readonly next: Date | null;
  }[],
  screen?: Screen,
): string {
  return table(
    [
      { title: 'Schedule', value: ({ schedule }) => schedule },
      { title: 'Campaign', value: ({ campaign }) => campaign },
      { title: 'Times', value: ({ times: { cron, at } }) => cron ?? (at ?? []).join(', ') },
      { title: 'Zone', value: ({ times }) => times.timeZone },
      {
        title: inZoneOf(screen, 'Next'),
        value: ({ active, next }) => (active ? (next ? timeOn(screen, next) : 'never') : 'its file is gone'),
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
  return table(
    [
      { title: inZoneOf(screen, 'Time'), value: ({ dueAt }) => timeOn(screen, dueAt) },
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
  return table(
    [
      { title: inZoneOf(screen, 'Time'), value: ({ dueAt }) => timeOn(screen, dueAt) },
      { title: 'Zone of the schedule', value: ({ timeZone }) => timeZone },
      { title: 'Schedule', value: ({ schedule }) => schedule },
      { title: 'Campaign', value: ({ campaign }) => campaign },
    ],
    upcoming,
    [],
    screen,
  );
}
