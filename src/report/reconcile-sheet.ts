import type { ReconciliationPeriod } from '../ledger/billing/compare-invoice.ts';
import type { ReconciliationLine, ReconciliationTotal } from '../ledger/billing/reconcile.ts';
import { count } from '../platform/sentence.ts';
import type { Sheet, SheetColumn } from './formats/sheet.ts';
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
  { from, until, timeZone }: ReconciliationPeriod,
  filters: readonly string[],
  asOf: Date,
): Sheet<SheetLine> {
  const { name, hasUnits, hasDate, differences, totals, unreadable } = reconciliation;
  const columns: readonly SheetColumn<SheetLine>[] = [
    { key: 'kind', title: 'Finding', kind: 'text', value: ({ kind }) => kind },
    { key: 'messageId', title: 'MessageID', kind: 'text', value: ({ messageId }) => messageId },
    { key: 'recipient', title: 'Recipient', kind: 'text', value: ({ recipient }) => recipient, minor: 1 },
    { key: 'run', title: 'Run', kind: 'text', value: ({ run }) => run, minor: 3 },
    { key: 'request', title: 'Request', kind: 'integer', value: ({ request }) => request, minor: 6 },
    { key: 'subAccount', title: 'SubAccount', kind: 'text', value: ({ subAccount }) => subAccount, minor: 2 },
    { key: 'department', title: 'Department', kind: 'text', value: ({ department }) => department, minor: 5 },
    { key: 'chargeCode', title: 'ChargeCode', kind: 'text', value: ({ chargeCode }) => chargeCode, minor: 2 },
    { key: 'line', title: 'Invoice line', kind: 'integer', value: ({ line }) => line, minor: 4 },
    { key: 'date', title: 'Invoice date', kind: 'text', value: ({ date }) => date, blank: !hasDate },
    {
      key: 'invoicedUnits',
      title: 'Invoice units',
      kind: 'decimal',
      value: ({ invoicedUnits }) => invoicedUnits,
      blank: !hasUnits,
    },
    { key: 'units', title: 'Units here', kind: 'decimal', value: ({ units }) => units, blank: !hasUnits },
    {
      key: 'invoicedPrice',
      title: 'Invoice price',
      kind: 'decimal',
      value: ({ invoicedPrice }) => invoicedPrice,
    },
    { key: 'price', title: 'Price here', kind: 'decimal', value: ({ price }) => price },
    { key: 'difference', title: 'Difference', kind: 'decimal', value: ({ difference }) => difference },
    { key: 'detail', title: 'What is known', kind: 'text', value: ({ detail }) => detail },
  ];
  const period = `sent ${from === null ? 'at any time' : `from ${from}`}${until === null ? '' : ` until before ${until}`}, ${timeZone}`;
  const left =
    unreadable.lines === 0
      ? []
      : [`without ${count(unreadable.lines, 'line')} of the invoice that cannot be read`];
  return {
    title: `Invoice ${name} compared with the ledger`,
    subtitle: [period, ...filters, ...left],
    asOf,
    columns,
    rows: formatDifferences(differences),
    totals: () => totals.map(totalLine),
  };
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
