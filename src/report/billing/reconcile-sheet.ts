import { formatReason } from '../../domain/reasons.ts';
import type { Reconciliation } from '../../engine/billing/reconcile.ts';
import type { ReconciliationPeriod, ReconciliationScope } from '../../ledger/billing/compare-invoice.ts';
import type {
  ChargeEffect,
  DifferenceFilter,
  ReconciliationKind,
  ReconciliationLine,
  ReconciliationTotal,
} from '../../ledger/billing/reconcile.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, columnsOf, decimalColumn, integerColumn, textColumn, wordsColumn } from '../column.ts';
import type { Sheet } from '../formats/sheet.ts';
import {
  chargeCodeColumn,
  departmentColumn,
  messageIdColumn,
  runColumn,
  subAccountColumn,
} from '../lists/usual.ts';
import { formatPayer, formatPeriod } from './billing-words.ts';

/** A line of the sheet: a difference, or a sum. */
export type DifferenceLine = Omit<
  ReconciliationLine,
  'kind' | 'effect' | 'messageId' | 'recipient' | 'details'
> & {
  readonly detail: string | null;
  readonly kind: string;
  readonly effect: ChargeEffect | null;
  readonly messageId: string | null;
  readonly recipient: string | null;
};

/** What a billing person does about each finding. */
const advice: Readonly<Record<ReconciliationKind, string>> = {
  'billed but not sent': 'Ask the service for its proof.',
  'not in the invoice': 'Nothing, or wait for the next invoice.',
  'other price': 'Ask which price is right.',
  'other units': 'Ask which units are right.',
  'twice in the invoice': 'Do not pay it twice.',
  'other period': 'Look whether another invoice has it.',
  unknown: 'Resolve the request: the invoice says that the service has it.',
};

export function isFinding(kind: ReconciliationTotal['kind']): kind is ReconciliationKind {
  return Object.hasOwn(advice, kind);
}

/** The sums of an invoice by finding: what costs most first. */
export const findingColumns = columnsOf<ReconciliationTotal>()([
  textColumn('kind', 'Finding', ({ kind }) => nameFinding(kind)),
  integerColumn('lines', 'Lines'),
  decimalColumn('tooMuch', 'Charged too much'),
  decimalColumn('tooLittle', 'Charged too little'),
  decimalColumn('notKnown', 'Not known'),
  decimalColumn('difference', 'Difference'),
  textColumn('advice', 'What to do', ({ kind }) => (isFinding(kind) ? advice[kind] : null), { minor: 1 }),
]);

function nameFinding(kind: ReconciliationTotal['kind']): string {
  if (kind === 'agrees') return 'Agrees';
  if (kind === 'tests') return 'Of them, tests';
  return kind === 'all' ? 'Total' : kind;
}

/** `22,848 differences. The invoice: 1.00. Here: 0.50. Difference: 0.50`. */
export function formatFindings(totals: readonly ReconciliationTotal[]): string {
  const found = totals.reduce((sum, { kind, lines }) => sum + (isFinding(kind) ? lines : 0), 0);
  const all = totals.find(({ kind }) => kind === 'all');
  const words = found === 0 ? 'The invoice agrees with the ledger' : count(found, 'difference');
  return `${words}.${all ? ` The invoice: ${all.invoicedPrice}. Here: ${all.price}. Difference: ${all.difference}.` : ''}`;
}

/** The differences between an invoice and the ledger, with sums for each finding. */
export function reconcileSheet(
  reconciliation: Reconciliation,
  {
    period,
    scope,
    filter = {},
  }: {
    readonly period: ReconciliationPeriod;
    readonly scope: Pick<ReconciliationScope, 'accounts' | 'subAccounts' | 'channels'>;
    /** Of the lines. Undefined: all. */
    readonly filter?: DifferenceFilter | undefined;
  },
  asOf: Date,
): Sheet<DifferenceLine> {
  const { name, hasUnits, hasDate, differences, totals, askedTotals, unreadable } = reconciliation;
  const isFiltered = Object.values(filter).some((asked) => asked !== undefined);
  const columns: Columns<DifferenceLine> = [
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
    textColumn('date', 'Invoice date', { blank: !hasDate, minor: 7 }),
    decimalColumn('invoicedUnits', 'Invoice units', { blank: !hasUnits, minor: 8 }),
    decimalColumn('units', 'Units here', { blank: !hasUnits, minor: 8 }),
    decimalColumn('invoicedPrice', 'Invoice price'),
    decimalColumn('price', 'Price here'),
    decimalColumn('difference', 'Difference'),
    wordsColumn('detail', 'What is known'),
    textColumn('effect', 'What it means'),
  ];
  const left =
    unreadable.lines === 0
      ? []
      : [`without ${count(unreadable.lines, 'line')} of the invoice that cannot be read`];
  return {
    title: `Invoice ${name} compared with the ledger`,
    subtitle: [
      formatPeriod('sent', period),
      ...formatScope(scope),
      ...Object.values(filter).flatMap((asked) => (asked === undefined ? [] : [`only: ${asked}`])),
      ...left,
      formatFindings(totals),
    ],
    asOf: { at: asOf },
    columns,
    summary: (use) => use(findingColumns, totals),
    rows: formatDifferences(differences),
    totals: () => (isFiltered ? askedTotals : totals).map(totalLine),
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
): AsyncGenerator<readonly DifferenceLine[], void, undefined> {
  for await (const batch of batches) yield batch.map((line) => ({ ...line, detail: formatDifference(line) }));
}

function totalLine({ kind, lines, ...sums }: ReconciliationTotal): DifferenceLine {
  return {
    run: null,
    request: null,
    subAccount: null,
    department: null,
    chargeCode: null,
    line: null,
    date: null,
    ...sums,
    kind: isFinding(kind) ? `Total ${kind}` : nameFinding(kind),
    effect: null,
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
