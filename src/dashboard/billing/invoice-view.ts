import type { Problem } from '../../domain/problems.ts';
import type { Reconciliation } from '../../engine/billing/reconcile.ts';
import type { ReconciliationKind, ReconciliationTotal } from '../../ledger/billing/reconcile.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, decimalColumn, integerColumn, textColumn } from '../../report/column.ts';
import type { Sheet } from '../../report/formats/sheet.ts';
import { chartFigure } from '../../report/html/chart.ts';
import { createBarChart } from '../../report/html/charts.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { problemItems } from '../base/problems.ts';
import { listTable } from '../parts/list.ts';
import { skipLabel } from './invoice-question.ts';

/** Differences that the page shows; a download has all. */
export const differencesShown = 200;

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

function countDifferences(totals: readonly ReconciliationTotal[]): number {
  return totals.reduce((sum, { kind, lines }) => sum + (isFinding(kind) ? lines : 0), 0);
}

function isFinding(kind: ReconciliationTotal['kind']): kind is ReconciliationKind {
  return kind !== 'agrees' && kind !== 'all' && kind !== 'tests';
}

/** @param differences the first of them, as lines of the sheet */
export function invoiceAnswer<Line>(
  { totals, unreadable }: Pick<Reconciliation, 'totals' | 'unreadable'>,
  sheet: Sheet<Line>,
  differences: readonly Line[],
): Html {
  const found = countDifferences(totals);
  const all = totals.find(({ kind }) => kind === 'all');
  const findings = totals.filter(({ kind }) => isFinding(kind));
  return html`<p role="status"><strong>${
    found === 0 ? 'The invoice agrees with the ledger.' : `${count(found, 'difference')}.`
  }</strong> ${all && `The invoice: ${all.invoicedPrice}. Here: ${all.price}. Difference: ${all.difference}.`}</p>
${unreadable.lines > 0 && html`<h2>Lines that cannot be read</h2><p>Not compared: ${count(unreadable.lines, 'line')}.</p>${problemItems(inPageWords(unreadable.problems))}`}
${
  findings.length > 0 &&
  html`<section class="charts" aria-label="Charts">${chartFigure(
    createBarChart(
      'Differences by finding',
      findings.map(({ kind, lines }) => ({ name: kind, value: String(lines) })),
    ),
    'chart-1',
  )}</section>`
}
${totalTable(totals)}
${found > 0 && differenceTable(sheet, differences, found)}`;
}

const totalColumns: Columns<ReconciliationTotal> = [
  textColumn('kind', 'Finding', ({ kind }) => nameTotal(kind)),
  integerColumn('lines', 'Lines'),
  decimalColumn('invoicedPrice', 'Invoice price'),
  decimalColumn('price', 'Price here'),
  decimalColumn('difference', 'Difference'),
  textColumn('advice', 'What to do', ({ kind }) => (isFinding(kind) ? advice[kind] : null)),
];

function totalTable(totals: readonly ReconciliationTotal[]): Html {
  const isSum = ({ kind }: ReconciliationTotal): boolean => kind === 'all' || kind === 'tests';
  const rows = totals.filter((total) => !isSum(total));
  return listTable({ caption: 'Findings', columns: totalColumns, rows, totals: totals.filter(isSum) });
}

function nameTotal(kind: ReconciliationTotal['kind']): string {
  if (kind === 'all') return 'Total';
  return kind === 'tests' ? 'Of them, tests' : kind;
}

function differenceTable<Line>({ columns }: Sheet<Line>, rows: readonly Line[], count: number): Html {
  const shown = columns.filter(({ blank }) => !blank);
  return html`${listTable({ caption: 'Differences', columns: shown, rows })}
${count > rows.length && html`<p class="rest">The first ${groupThousands(rows.length)} of ${groupThousands(count)} differences. The downloads have all of them.</p>`}`;
}

/** The problems of an invoice. They name options of the command line; the form has fields instead. */
export function inPageWords(problems: readonly Problem[]): readonly Problem[] {
  return problems.map(({ where, what }) => ({
    where,
    what: what
      .replace(/skip (?:it|them) with --skip-unreadable/, `choose “${skipLabel}”`)
      .replace(/name it with --column (\w+)="…"/, 'name it in “Column of $1”')
      .replace(/Set --decimal (\w+) if/, 'Choose the other decimal sign if')
      .replaceAll('--country', '“Country”'),
  }));
}
