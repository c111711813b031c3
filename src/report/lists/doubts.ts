import type { Doubt } from '../../ledger/requests/list-failed.ts';
import { type Columns, integerColumn, timeColumn } from '../column.ts';
import { messageIdColumn, reasonColumn, recipientsColumn } from './usual.ts';

/** Requests in doubt. */
export const doubtColumns: Columns<Doubt> = [
  integerColumn('request', 'Request'),
  messageIdColumn,
  recipientsColumn,
  integerColumn('attempts', 'Attempts'),
  timeColumn('since', 'Since'),
  reasonColumn,
];
