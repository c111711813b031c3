import type { Doubt } from '../../ledger/requests/list-failed.ts';
import { columnsOf, integerColumn, timeColumn } from '../column.ts';
import { messageIdColumn, reasonColumn, recipientsColumn } from './usual.ts';

/** Requests in doubt. */
export const doubtColumns = columnsOf<Doubt>()([
  integerColumn('request', 'Request'),
  messageIdColumn,
  recipientsColumn,
  integerColumn('attempts', 'Attempts'),
  timeColumn('since', 'Since'),
  reasonColumn,
]);
