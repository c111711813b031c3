import type { RecipientState } from '../../domain/runs.ts';
import type { FailedRecipient, UndeliveredRecipient } from '../../ledger/runs/not-delivered.ts';
import { type Columns, integerColumn, stateColumn, textColumn, timeColumn, wordsColumn } from '../column.ts';
import { addressColumn, messageIdColumn, reasonColumn, wordsOf } from './usual.ts';

type PlacedRecipient = Pick<UndeliveredRecipient, 'address' | 'file' | 'line' | 'request' | 'messageId'>;

const contactColumns: Columns<PlacedRecipient> = [
  {
    ...addressColumn,
    shown: ({ address }) => address ?? 'erased',
    target: ({ address, messageId }) => ({ kind: 'recipient', recipient: address ?? messageId }),
  },
  textColumn('file', 'File'),
  integerColumn('line', 'Line'),
];

const requestColumns: Columns<PlacedRecipient> = [integerColumn('request', 'Request'), messageIdColumn];

/** Recipients of requests that were not accepted. */
export const failedRecipientColumns: Columns<FailedRecipient> = [
  ...contactColumns,
  stateColumn('state', 'State'),
  reasonColumn,
  ...requestColumns,
  integerColumn('attempts', 'Attempts'),
  timeColumn('at', 'At'),
];

/** Recipients that delivery reports call undelivered. */
export const undeliveredColumns: Columns<UndeliveredRecipient> = [
  ...contactColumns,
  wordsColumn('result', 'Result', ({ result }) => wordsOf(result)),
  timeColumn('at', 'Reported'),
  ...requestColumns,
];

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
