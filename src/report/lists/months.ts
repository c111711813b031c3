import type { Closing } from '../../ledger/billing/close.ts';
import { columnsOf, textColumn, timeColumn } from '../column.ts';
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

export const noMonths = 'No month is closed yet.';

/** What closing a month has done. */
export function closedText({ period, timeZone, beginsAt, endsAt }: Closing, screen: Screen): string {
  const [from, to] = [beginsAt, endsAt].map((time) => formatTime(screen, time));
  return `${period} is closed: requests sent from ${from} until before ${to} ${screenZone(screen)} (a month of ${timeZone}). What changes later is billed in the next month, as corrections.`;
}
