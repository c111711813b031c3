import type { AsOf } from '../../domain/replica.ts';
import type { RecipientState } from '../../domain/runs.ts';
import type { ListedRecipient } from '../../ledger/runs/list-recipients.ts';
import { type Columns, integerColumn, stateColumn, textColumn, timeColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import { addressColumn, messageIdColumn, reasonColumn } from './usual.ts';

/** The recipients of a run, each with its state and its row in the contact files. @param hasVariants its campaign has some */
export function recipientColumns(run: string, hasVariants: boolean): Columns<ListedRecipient> {
  return [
    {
      ...addressColumn,
      shown: ({ address }) => address ?? 'erased',
      target: ({ row }) => ({ kind: 'recipient of run', run, row }),
    },
    stateColumn('state', 'State'),
    reasonColumn,
    timeColumn('at', 'At'),
    ...(hasVariants ? [textColumn('variant', 'Variant')] : []),
    textColumn('file', 'File'),
    integerColumn('line', 'Line'),
    integerColumn('request', 'Request'),
    messageIdColumn,
  ];
}

/** The same as a file. @param which of them, in words */
export function recipientSheet(list: {
  readonly run: string;
  readonly which: string;
  readonly hasVariants: boolean;
  readonly asOf: AsOf;
  readonly rows: AsyncIterable<readonly ListedRecipient[]>;
}): Sheet<ListedRecipient> {
  const { run, which, hasVariants, asOf, rows } = list;
  const columns = recipientColumns(run, hasVariants);
  return { title: `Recipients of run ${run}`, subtitle: [which], asOf, columns, rows };
}

/** What a state says of one recipient. */
export const recipientStateSentences: Readonly<Record<RecipientState, string>> = {
  pending: 'It was not sent yet.',
  accepted: 'The service accepted it. No final delivery report has come.',
  delivered: 'A delivery report says that it was delivered.',
  undelivered: 'A delivery report says that it was not delivered.',
  rejected: 'The service rejected it.',
  failed: 'It never reached the service.',
  unknown: 'It is not known whether the service accepted it.',
  cancelled: 'It was not sent.',
};
