import { formatReason } from '../../domain/reasons.ts';
import type { ReconciliationPeriod, ReconciliationScope } from '../../ledger/billing/compare-invoice.ts';
import type { ReconciliationLine, ReconciliationTotal } from '../../ledger/billing/reconcile.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, decimalColumn, integerColumn, textColumn, wordsColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import {
  chargeCodeColumn,
  departmentColumn,
  messageIdColumn,
  runColumn,
  subAccountColumn,
} from '../lists/usual.ts';
import { formatPayer, formatPeriod } from './billing-words.ts';

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
    asOf: { at: asOf },
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
    messageId: count(lines, 'line'),
    recipient: null,
    detail: null,
  };
}

/** What the ledger knows of the line; null when the figures say it all. */
export function formatDifference(line: ReconciliationLine): string | null {
  const words = formatKind(line);
  if (!line.details.test) return words;
  return words === null ? 'a test' : `a test; ${words}`;
}

function formatKind(line: ReconciliationLine): string | null {
  const { kind, details } = line;
  switch (kind) {
    case 'twice in the invoice':
      return `already on line ${details.firstLine}`;
    case 'not in the invoice':
      return `${details.outcome ?? 'accepted'}, sent ${details.sent}`;
    case 'other period':
      return `sent ${details.sent}, price ${details.price ?? 'not reported'}`;
    case 'other price': {
      const words = [
        ...(details.price === null ? ['no price was reported'] : []),
        ...(details.sameUnits || line.invoicedUnits === null ? [] : ['units differ too']),
      ];
      return words.join(', ') || null;
    }
    case 'other units':
      return details.hasUnits ? null : 'no units were reported';
    case 'unknown':
      return formatUnknown(line);
    case 'billed but not sent':
      return formatMissing(line);
  }
}

function formatUnknown({ run, request, details }: ReconciliationLine): string {
  if (details.purged) return 'the run was purged, so its recipients are not known';
  if (details.state === 'in_doubt')
    return `in doubt here, and the invoice says the service has it: volley resolve ${run} --request ${request} --accepted --reason "in the invoice"`;
  if (details.state === 'sending') return 'being sent';
  return `abandoned in Volley, and the invoice says the service has it${formatBecause(details)}`;
}

function formatMissing({ run, details }: ReconciliationLine): string {
  if (run === null) return 'no request has this MessageID';
  if (details.outcome === 'cancelled') return 'excluded from the request: suppressed after planning';
  if (details.hasRecipient) return `the request is ${details.state}${formatBecause(details)}`;
  if (details.divided) return 'the request was rejected and divided: its recipients have other MessageIDs';
  return 'the request has no such recipient';
}

function formatBecause({ reason }: ReconciliationLine['details']): string {
  return reason === null ? '' : `: ${formatReason(reason)}`;
}
