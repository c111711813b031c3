import { tickStates } from '../../domain/runs.ts';
import type { ListedTick } from '../../ledger/schedules/schedules.ts';
import { type Columns, columnsOf, stateColumn, textColumn, timeColumn } from '../column.ts';
import { scheduleWords, type Times } from '../schedule-words.ts';
import { campaignColumn, reasonColumn, runColumn } from './usual.ts';

type ScheduleLine = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: Times;
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

/** What came of the times at which schedules were due. */
export const tickColumns = columnsOf<ListedTick>()([
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
