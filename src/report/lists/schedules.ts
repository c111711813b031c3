import type { Reason } from '../../domain/reasons.ts';
import { type TickState, tickStates } from '../../domain/runs.ts';
import { type Columns, columnsOf, stateColumn, textColumn, timeColumn } from '../column.ts';
import { scheduleWords } from '../schedule-words.ts';
import { campaignColumn, reasonColumn, runColumn } from './usual.ts';

type ScheduleTimes = {
  readonly cron?: string | undefined;
  readonly at?: readonly string[] | undefined;
  readonly timeZone: string;
};

type ScheduleLine = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: ScheduleTimes;
  readonly active: boolean;
  readonly next: Date | null;
};

const scheduleColumn = textColumn('schedule', 'Schedule');

/** Schedules of the ledger. */
export const scheduleColumns: Columns<ScheduleLine> = [
  { ...scheduleColumn, about: 'The file of the campaign.' },
  campaignColumn,
  textColumn('active', 'Active', ({ active }) => String(active), {
    json: ({ active }) => active,
    only: ['json'],
  }),
  textColumn('times', 'Times', ({ times }) => scheduleWords(times), { json: ({ times }) => times }),
  timeColumn('next', 'Next', ({ next }) => next, {
    shown: ({ active, next }) => (active ? (next ?? 'never') : 'its file is missing'),
    nullable: true,
  }),
];

type TickLine = {
  readonly schedule: string;
  readonly dueAt: Date;
  readonly state: TickState;
  readonly run: string | null;
  readonly reason: Reason | null;
};

/** What came of the times at which schedules were due. */
export const tickColumns = columnsOf<TickLine>()([
  scheduleColumn,
  timeColumn('dueAt', 'Due'),
  stateColumn('state', 'State', { values: tickStates }),
  { ...runColumn, nullable: true },
  { ...reasonColumn, nullable: true },
]);

type UpcomingTick = {
  readonly schedule: string;
  readonly campaign: string;
  readonly dueAt: Date;
  readonly timeZone: string;
};

/** The times at which the campaigns of a folder are due next. */
export const upcomingColumns: Columns<UpcomingTick> = [
  scheduleColumn,
  campaignColumn,
  timeColumn('dueAt', 'Due'),
  textColumn('timeZone', 'Zone of the schedule'),
];
