import type { ReconciliationPeriod, ReconciliationScope } from '../ledger/billing/compare-invoice.ts';
import type { ReconciliationLine, ReconciliationTotal } from '../ledger/billing/reconcile.ts';
import { count } from '../platform/sentence.ts';
import { formatPayer, formatPeriod } from './billing-words.ts';
import { type Columns, decimalColumn, integerColumn, textColumn, wordsColumn } from './column.ts';
import type { Sheet } from './formats/sheet.ts';
import {
  chargeCodeColumn,
  departmentColumn,
  messageIdColumn,
  runColumn,
  subAccountColumn,
} from './lists/usual.ts';
import { formatDifference } from './reconcile-differences.ts';

type SheetLine = Omit<ReconciliationLine, 'kind' | 'messageId' | 'recipient' | 'details'> & {
  readonly detail: string | null;
  readonly kind: string;
  readonly messageId: string | null;
  readonly recipient: string | null;
};

/** The differences between an invoice and the ledger, with sums for each kind. */
export function reconcileSheet(
  reconciliation: {
    readonly name: string;
    readonly hasUnits: boolean;
    readonly hasDate: boolean;
    readonly differences: AsyncIterable<readonly ReconciliationLine[]>;
    readonly totals: readonly ReconciliationTotal[];
    readonly unreadable: { readonly lines: number };
  },
  period: ReconciliationPeriod,
  scope: Pick<ReconciliationScope, 'accounts' | 'subAccounts' | 'channels'>,
  asOf: Date,
): Sheet<SheetLine> {
  const { name, hasUnits, hasDate, differences, totals, unreadable } = reconciliation;
  const columns: Columns<SheetLine> = [
    textColumn('kind', 'Finding'),
    {
      ...messageIdColumn,
      target: ({ run, messageId }) =>
        run === null || messageId === null ? null : { kind: 'recipient', recipient: messageId },
    },
    textColumn('recipient', 'Recipient', { minor: 1 }),
    { ...runColumn, minor: 3 },
    integerColumn('request', 'Request', { minor: 6 }),
    { ...subAccountColumn, minor: 2 },
    { ...departmentColumn, minor: 5 },
    { ...chargeCodeColumn, minor: 2 },
    integerColumn('line', 'Invoice line', { minor: 4 }),
    textColumn('date', 'Invoice date', { blank: !hasDate }),
    decimalColumn('invoicedUnits', 'Invoice units', {
      blank: !hasUnits,
    }),
    decimalColumn('units', 'Units here', { blank: !hasUnits }),
    decimalColumn('invoicedPrice', 'Invoice price'),
    decimalColumn('price', 'Price here'),
    decimalColumn('difference', 'Difference'),
    wordsColumn('detail', 'What is known'),
  ];
  const left =
    unreadable.lines === 0
      ? []
      : [`without ${count(unreadable.lines, 'line')} of the invoice that cannot be read`];
  return {
    title: `Invoice ${name} compared with the ledger`,
    subtitle: [formatPeriod('sent', period), ...formatScope(scope), ...left],
    asOf,
    columns,
    rows: formatDifferences(differences),
    totals: () => totals.map(totalLine),
  };
}

function formatScope({
  accounts,
  subAccounts,
  channels,
}: Pick<ReconciliationScope, 'accounts' | 'subAccounts' | 'channels'>): string[] {
  const filters = { account: accounts, SubAccount: subAccounts, channel: channels };
  return Object.entries(filters).flatMap(([name, values]) =>
    values === null ? [] : [`${name}: ${values.map(formatPayer).join(', ')}`],
  );
}

async function* formatDifferences(
  batches: AsyncIterable<readonly ReconciliationLine[]>,
): AsyncGenerator<readonly SheetLine[], void, undefined> {
  for await (const batch of batches) yield batch.map((line) => ({ ...line, detail: formatDifference(line) }));
}

function formatTotal(kind: ReconciliationTotal['kind']): string {
  if (kind === 'agrees') return 'Agrees';
  if (kind === 'tests') return 'Of them, tests';
  return kind === 'all' ? 'Total' : `Total ${kind}`;
}

function totalLine({ kind, lines, ...sums }: ReconciliationTotal): SheetLine {
  return {
    run: null,
    request: null,
    subAccount: null,
    department: null,
    chargeCode: null,
    line: null,
    date: null,
    ...sums,
    kind: formatTotal(kind),
    messageId: `${lines} line${lines === 1 ? '' : 's'}`,
    recipient: null,
    detail: null,
  };
}
