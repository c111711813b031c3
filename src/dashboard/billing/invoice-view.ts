import type { Problem } from '../../domain/problems.ts';
import type { Reconciliation } from '../../engine/billing/reconcile.ts';
import type { ChargeEffect, DifferenceFilter, ReconciliationTotal } from '../../ledger/billing/reconcile.ts';
import { count } from '../../platform/sentence.ts';
import {
  type DifferenceLine,
  findingColumns,
  formatFindings,
  isFinding,
} from '../../report/billing/reconcile-sheet.ts';
import { type Column, type Columns, type Link, pickColumns } from '../../report/column.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { problemItems } from '../base/problems.ts';
import { keptFields, textField } from '../parts/form-fields.ts';
import { listTable, pager } from '../parts/list.ts';
import { changedPath, runPath } from '../paths.ts';
import { skipLabel } from './invoice-question.ts';

export const differencesPerPage = 100;

/** What the invoice costs too much or too little, by finding. Each sum leads to its lines. @param address of the page */
export function findingsPart(
  { totals, unreadable }: Pick<Reconciliation, 'totals' | 'unreadable'>,
  address: string,
): Html {
  const linesOf =
    (effect?: ChargeEffect, sum?: 'tooMuch' | 'tooLittle' | 'notKnown') =>
    ({ kind, ...sums }: ReconciliationTotal): Link | null => {
      const isListed = kind === 'all' || isFinding(kind);
      if (!isListed || (sum && Number(sums[sum]) === 0)) return null;
      const path = differencesPath(address, { kind: kind === 'all' ? undefined : kind, effect });
      return { kind: 'page', path };
    };
  const columns = pickColumns(
    findingColumns,
    { key: 'kind', target: linesOf() },
    'lines',
    { key: 'tooMuch', target: linesOf('charged too much', 'tooMuch') },
    { key: 'tooLittle', target: linesOf('charged too little', 'tooLittle') },
    { key: 'notKnown', target: linesOf('not known', 'notKnown') },
    'difference',
    'advice',
  );
  const isSum = ({ kind }: ReconciliationTotal): boolean => kind === 'all' || kind === 'tests';
  const rows = totals.filter((total) => !isSum(total));
  return html`<p role="status"><strong>${formatFindings(totals)}</strong></p>
${listTable({ caption: 'Findings, what costs most first', columns, rows, totals: totals.filter(isSum) })}
${unreadable.lines > 0 && html`<h2>Lines that cannot be read</h2><p>Not compared: ${count(unreadable.lines, 'line')}.</p>${problemItems(inPageWords(unreadable.problems))}`}`;
}

function differencesPath(address: string, { kind, effect }: DifferenceFilter): string {
  return `${changedPath(address, { finding: kind, means: effect, find: '', page: '' })}#differences`;
}

type Differences<Row> = {
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  readonly filter: DifferenceFilter;
  /** Lines on the pages before this one. */
  readonly after: number;
  readonly lines: number;
};

/** A page of the lines that are asked for. @param address of the page */
export function differencesPart<Row>(
  { columns, rows, filter, after, lines }: Differences<Row>,
  address: string,
): Html {
  const asked = [filter.kind, filter.effect, filter.text].filter((each) => each !== undefined);
  const range = `${groupThousands(after + 1)} to ${groupThousands(after + rows.length)} of ${groupThousands(lines)}`;
  const caption = ['Differences', ...asked, range].join(', ');
  const page = after / differencesPerPage + 1;
  const link = (to: number, text: string) => ({
    href: `${changedPath(address, { page: String(to) })}#differences`,
    text,
  });
  return html`<form class="filter list" method="get" role="search">${keptFields(address, ['find', 'page'])}
${textField({ name: 'find', label: 'MessageID, recipient, run or payer', value: filter.text })}
<p class="find"><button>Find lines</button>
${asked.length > 0 && html`<a href="${differencesPath(address, {})}">Show all differences</a>`}</p></form>
${rows.length === 0 ? html`<p class="empty" id="differences">There are no such lines.</p>` : listTable({ caption, columns, rows, id: 'differences' })}
${pager({
  previous: page > 1 ? link(page - 1, 'Previous lines') : undefined,
  next: after + rows.length < lines ? link(page + 1, 'Next lines') : undefined,
  place: `Page ${page} of ${Math.ceil(lines / differencesPerPage)}`,
})}`;
}

/** The columns of the differences. A doubt leads to the page that decides about it, and not to a command. */
export function inPageColumns(columns: Columns<DifferenceLine>): Columns<DifferenceLine> {
  const command = /: volley resolve .*/s;
  const decide: Partial<Column<DifferenceLine>> = {
    value: ({ detail }) => detail?.replace(command, '') ?? null,
    target: ({ run, detail }) =>
      run !== null && command.test(detail ?? '') ? { kind: 'page', path: runPath(run, 'doubts') } : null,
  };
  return columns.map((column) => (column.key === 'detail' ? { ...column, ...decide } : column));
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
