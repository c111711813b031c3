import type { Closing } from '../../ledger/billing/close.ts';
import { type Columns, textColumn, timeColumn } from '../column.ts';

/** Closed months. */
export const monthColumns: Columns<Closing> = [
  textColumn('period', 'Month'),
  textColumn('timeZone', 'Month of'),
  timeColumn('beginsAt', 'From'),
  timeColumn('endsAt', 'Until before'),
  timeColumn('closedAt', 'Closed'),
  textColumn('closedBy', 'By'),
];
