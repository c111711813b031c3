import type { Reason } from '../../domain/reasons.ts';
import { formatReasonOrNull } from '../../domain/reasons.ts';
import { formatPayer } from '../billing/billing-words.ts';
import { type Column, type Columns, integerColumn, textColumn, wordsColumn } from '../column.ts';

/** Columns of many lists. Each is about what it names: the run, the account, the recipient. */
export const runColumn: Column<{ readonly run: string | null }, 'run'> = textColumn(
  'run',
  'Run',
  ({ run }) => run,
  {
    target: ({ run }) => (run === null ? null : { kind: 'run', run }),
  },
);

export const campaignColumn = textColumn('campaign', 'Campaign');

export const accountColumn: Column<{ readonly account: string }, 'account'> = textColumn(
  'account',
  'Account',
  ({ account }) => account,
  { target: ({ account }) => ({ kind: 'account', account }) },
);

export const messageIdColumn: Column<{ readonly messageId: string | null }, 'messageId'> = textColumn(
  'messageId',
  'MessageID',
  ({ messageId }) => messageId,
  { target: ({ messageId }) => (messageId === null ? null : { kind: 'recipient', recipient: messageId }) },
);

export const addressColumn: Column<{ readonly address: string | null }, 'address'> = textColumn(
  'address',
  'Address',
  ({ address }) => address,
  { target: ({ address }) => (address === null ? null : { kind: 'recipient', recipient: address }) },
);

export const recipientsColumn = integerColumn('recipients', 'Recipients');

/** Why something is in its state, in words. */
export const reasonColumn: Column<{ readonly reason: Reason | null }, 'reason'> = wordsColumn(
  'reason',
  'Reason',
  ({ reason }) => formatReasonOrNull(reason),
);

/** What the service said, or that it said nothing. */
export function wordsOf(reason: Reason | null): string {
  return formatReasonOrNull(reason) ?? 'no words';
}

export const subAccountColumn = textColumn('subAccount', 'SubAccount');
export const departmentColumn = textColumn('department', 'Department');
export const chargeCodeColumn = textColumn('chargeCode', 'ChargeCode');

/** A column of payers, where it matters that a request has none. */
function named<Key extends string>({
  key,
  title,
}: Column<never, Key>): Column<Readonly<Record<Key, string | null>>, Key> {
  return textColumn(key, title, (row) => row[key], { shown: (row) => formatPayer(row[key]) });
}

export const namedPayerColumns = {
  subAccount: named(subAccountColumn),
  department: named(departmentColumn),
  chargeCode: named(chargeCodeColumn),
};

/** The columns of a list over cells. */
export function withCell<Row>(columns: Columns<Row>): Columns<Row & { readonly cell: string | null }> {
  return [textColumn('cell', 'Cell'), ...columns];
}
