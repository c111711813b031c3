import type { Closing } from '../../ledger/billing/close.ts';
import { type Columns, columnsOf, textColumn, timeColumn } from '../column.ts';
import type { Screen } from '../screen.ts';
import { formatTime, screenZone } from '../time.ts';

/** Closed months. */
export const monthColumns = columnsOf<Closing>()([
  textColumn('period', 'Month'),
  textColumn('timeZone', 'Month of'),
  timeColumn('beginsAt', 'From'),
  timeColumn('endsAt', 'Until before'),
  timeColumn('closedAt', 'Closed'),
  textColumn('closedBy', 'By'),
]);

/** A month that was closed in a cell, by this call or an earlier one. */
type ClosedMonth = { readonly closing: Closing; readonly before: boolean };

export const closedMonthColumns: Columns<ClosedMonth> = [
  textColumn('period', 'Month', ({ closing }) => closing.period),
  textColumn('timeZone', 'Month of', ({ closing }) => closing.timeZone),
  timeColumn('closedAt', 'Closed', ({ closing }) => closing.closedAt),
  textColumn('closedBy', 'By', ({ closing }) => closing.closedBy),
  textColumn('by', 'Closed by', ({ before }) => (before ? 'an earlier call' : 'this call')),
];

export const noMonths = 'No month is closed yet.';

/** What closing a month has done. */
export function closedText({ period, timeZone, beginsAt, endsAt }: Closing, screen: Screen): string {
  const [from, to] = [beginsAt, endsAt].map((time) => formatTime(screen, time));
  return `${period} is closed: requests sent from ${from} until before ${to} ${screenZone(screen)} (a month of ${timeZone}). What changes later is billed in the next month, as corrections.`;
}
