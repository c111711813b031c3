import type { AsOf } from '../../domain/replica.ts';
import type { ListedDeliveryReport } from '../../ledger/delivery-reports/list.ts';
import type { MissingDeliveryReport } from '../../ledger/delivery-reports/missing.ts';
import {
  columnsOf,
  decimalColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
  wordsColumn,
} from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import { accountColumn, addressColumn, messageIdColumn, runColumn } from './usual.ts';

/** Not for people, who read `content`. */
const inFull = { only: ['file', 'json'] } as const;

/** A file has the fields of a report; people read its words as one column. */
export const deliveryReportColumns = columnsOf<ListedDeliveryReport>()([
  integerColumn('report', 'Report', { ...inFull, json: ({ report }) => report }),
  timeColumn('receivedAt', 'Received'),
  accountColumn,
  stateColumn('state', 'State'),
  runColumn,
  {
    ...messageIdColumn,
    shown: ({ messageId, jobNumber }) => messageId ?? jobNumber,
    target: ({ messageId, jobNumber }) => {
      const recipient = messageId ?? jobNumber;
      return recipient === null ? null : { kind: 'recipient', recipient };
    },
  },
  textColumn('jobNumber', 'JobNumber', inFull),
  addressColumn,
  wordsColumn('text', 'Reply', inFull),
  textColumn('outcome', 'Outcome', inFull),
  textColumn('status', 'Status', inFull),
  wordsColumn('result', 'Result', inFull),
  decimalColumn('units', 'Units', inFull),
  decimalColumn('price', 'Price', inFull),
  wordsColumn('why', 'Why', inFull),
  wordsColumn('content', 'Content', contentOf, { only: ['screen', 'page'] }),
]);

function contentOf({ why, text, status, result }: ListedDeliveryReport): string {
  return text ?? [status, result, why].filter(Boolean).join(', ');
}

export const missingTitle = 'Accepted recipients without a final delivery report';

/** Accepted recipients without a final delivery report. */
export const missingColumns = columnsOf<MissingDeliveryReport>()([
  timeColumn('acceptedAt', 'Accepted'),
  runColumn,
  messageIdColumn,
  addressColumn,
  textColumn('lastStatus', 'Last report', {
    shown: ({ lastStatus }) => lastStatus ?? 'none',
  }),
]);

/** @param which runs, in words */
export function missingSheet(
  rows: AsyncIterable<readonly MissingDeliveryReport[]>,
  which: string,
  asOf: AsOf,
): Sheet<MissingDeliveryReport> {
  return { title: 'Missing delivery reports', subtitle: [which], asOf, columns: missingColumns, rows };
}
