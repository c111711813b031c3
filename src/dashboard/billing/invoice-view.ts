import type { Problem } from '../../domain/problems.ts';
import type { Reconciliation } from '../../engine/billing/reconcile.ts';
import type { ReconciliationKind, ReconciliationTotal } from '../../ledger/billing/reconcile.ts';
import type { Sheet, SheetColumn } from '../../report/formats/sheet.ts';
import { chartFigure } from '../../report/html/chart-figure.ts';
import { createBarChart } from '../../report/html/charts.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { sheetTable } from '../../report/html/table.ts';
import { counted } from '../parts/parts.ts';

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
  linkOf: (line: Line, column: SheetColumn<Line>) => string | undefined,
): Html {
  const count = countDifferences(totals);
  const all = totals.find(({ kind }) => kind === 'all');
  const findings = totals.filter(({ kind }) => isFinding(kind));
  return html`<p role="status"><strong>${
    count === 0 ? 'The invoice agrees with the ledger.' : `${counted(count, 'difference')}.`
  }</strong> ${all && `The invoice: ${all.invoicedPrice}. Here: ${all.price}. Difference: ${all.difference}.`}</p>
${unreadable.lines > 0 && html`<h2>Lines that cannot be read</h2><p>Not compared: ${counted(unreadable.lines, 'line')}.</p>${problemList(unreadable.problems)}`}
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
${count > 0 && differenceTable(sheet, differences, count, linkOf)}`;
}

function totalTable(totals: readonly ReconciliationTotal[]): Html {
  const column = (
    title: string,
    kind: SheetColumn<ReconciliationTotal>['kind'],
    value: SheetColumn<ReconciliationTotal>['value'],
  ): SheetColumn<ReconciliationTotal> => ({ key: title, title, kind, value });
  const columns = [
    column('Finding', 'text', ({ kind }) => nameTotal(kind)),
    column('Lines', 'integer', ({ lines }) => lines),
    column('Invoice price', 'decimal', ({ invoicedPrice }) => invoicedPrice),
    column('Price here', 'decimal', ({ price }) => price),
    column('Difference', 'decimal', ({ difference }) => difference),
    column('What to do', 'text', ({ kind }) => (isFinding(kind) ? advice[kind] : null)),
  ];
  const isSum = ({ kind }: ReconciliationTotal): boolean => kind === 'all' || kind === 'tests';
  return sheetTable(
    { columns, lines: totals.filter((total) => !isSum(total)), totals: totals.filter(isSum) },
    'Findings',
  );
}

function nameTotal(kind: ReconciliationTotal['kind']): string {
  if (kind === 'all') return 'Total';
  return kind === 'tests' ? 'Of them, tests' : kind;
}

function differenceTable<Line>(
  { columns }: Sheet<Line>,
  lines: readonly Line[],
  count: number,
  linkOf: (line: Line, column: SheetColumn<Line>) => string | undefined,
): Html {
  const shown = columns.filter(({ blank }) => !blank);
  return html`${sheetTable({ columns: shown, lines, totals: [] }, 'Differences', linkOf)}
${count > lines.length && html`<p class="rest">The first ${groupThousands(lines.length)} of ${groupThousands(count)} differences. The downloads have all of them.</p>`}`;
}

export function problemList(problems: readonly Problem[]): Html {
  return html`<ul class="problems">${problems.map(({ where, what }) => html`<li><bdi>${where}</bdi>: ${inPageWords(what)}</li>`)}</ul>`;
}

/** Messages name options of the command line; the form has fields instead. */
function inPageWords(what: string): string {
  return what
    .replace(/skip (?:it|them) with --skip-unreadable/, 'choose “Skip lines that cannot be read”')
    .replace(/name it with --column (\w+)="…"/, 'name it in “Column of $1”')
    .replace(/Set --decimal (\w+) if/, 'Choose the other decimal sign if')
    .replaceAll('--country', '“Country”');
}
