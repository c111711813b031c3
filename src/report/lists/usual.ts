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

export const campaignColumn: Column<{ readonly campaign: string }, 'campaign'> = textColumn(
  'campaign',
  'Campaign',
);

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

type Payer = {
  readonly subAccount: string | null;
  readonly department: string | null;
  readonly chargeCode: string | null;
};

export const subAccountColumn: Column<Pick<Payer, 'subAccount'>, 'subAccount'> = textColumn(
  'subAccount',
  'SubAccount',
);
export const departmentColumn: Column<Pick<Payer, 'department'>, 'department'> = textColumn(
  'department',
  'Department',
);
export const chargeCodeColumn: Column<Pick<Payer, 'chargeCode'>, 'chargeCode'> = textColumn(
  'chargeCode',
  'ChargeCode',
);

type NamedColumn<Key extends keyof Payer> = Column<Pick<Payer, Key>>;

/** The payers, where it matters that a request has none. */
export const namedPayerColumns: { readonly [Key in keyof Payer]: NamedColumn<Key> } = {
  subAccount: { ...subAccountColumn, shown: ({ subAccount }) => formatPayer(subAccount) },
  department: { ...departmentColumn, shown: ({ department }) => formatPayer(department) },
  chargeCode: { ...chargeCodeColumn, shown: ({ chargeCode }) => formatPayer(chargeCode) },
};

/** The columns of a list over cells. */
export function withCell<Row>(columns: Columns<Row>): Columns<Row & { readonly cell: string | null }> {
  return [textColumn('cell', 'Cell'), ...columns];
}
