import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { Doubt } from '../../ledger/requests/list-doubts.ts';
import { type Columns, integerColumn, timeColumn, wordsColumn } from '../column.ts';
import { messageIdColumn } from './usual.ts';

/** Requests in doubt. */
export const doubtColumns: Columns<Doubt> = [
  integerColumn('request', 'Request'),
  messageIdColumn,
  integerColumn('recipients', 'Recipients'),
  integerColumn('attempts', 'Attempts'),
  timeColumn('since', 'Since'),
  wordsColumn('reason', 'Reason', ({ reason }) => formatReasonOrNull(reason)),
];
