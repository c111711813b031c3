import { escapeHtml } from '../../domain/html.ts';
import { withEvenDecimals } from '../formats/even-decimals.ts';
import { type CellKind, type CellValue, cellText, type Sheet, type SheetColumn } from '../formats/sheet.ts';
import { formatUtc } from '../time.ts';
import { groupThousands } from './figures.ts';
import type { Html } from './html.ts';
import { escapeText } from './text.ts';

const attributesOf: Readonly<Record<CellKind, string>> = {
  text: ' dir="auto"',
  integer: ' class="n"',
  decimal: ' class="n"',
  time: ' class="t"',
};

/** More lines are read by programs; a browser holds a page whole. */
const maxVisible = 200;
const maxFolded = 1_800;

/** A command or an address that writes every line as CSV. */
export type AllLines = string;

/** The first lines, those that open on a click, how many more there are, and the totals of all. */
export async function* formatHtmlTable<Row>(
  sheet: Pick<Sheet<Row>, 'columns' | 'rows' | 'totals'>,
  caption: string,
  allLines?: AllLines,
): AsyncGenerator<string, void, undefined> {
  const first: Row[] = [];
  let count = 0;
  for await (const batch of sheet.rows) {
    first.push(...batch.slice(0, maxVisible + maxFolded - first.length));
    count += batch.length;
  }
  const totals = sheet.totals ? await sheet.totals() : [];
  const columns = withEvenDecimals(sheet.columns, [...first, ...totals]);
  yield drawTable(columns, caption, { lines: first.slice(0, maxVisible), totals });
  const folded = first.slice(maxVisible);
  if (folded.length === 0) return;
  const last = first.length;
  const range = `Lines ${groupThousands(maxVisible + 1)} to ${groupThousands(last)}`;
  const which = `${range}${count === last ? '' : ` of ${groupThousands(count)}`}`;
  yield `<details class="more">\n<summary>${which}</summary>\n${drawTable(columns, `${caption}: ${range}`, { lines: folded, totals: [] })}</details>\n`;
  if (count > last) yield formatRest(last + 1, count, allLines);
}

/** A table of a page that has few lines, with links. */
export function sheetTable<Row>(
  {
    columns,
    lines,
    totals,
  }: { readonly columns: Columns<Row>; readonly lines: readonly Row[]; readonly totals: readonly Row[] },
  caption: string,
  linkOf?: LinkOf<Row>,
): Html {
  const even = withEvenDecimals(columns, [...lines, ...totals]);
  return { kind: 'html', text: drawTable(even, caption, { lines, totals, linkOf }) };
}

type Columns<Row> = Sheet<Row>['columns'];

/** It scrolls within its frame, so the keyboard must reach it. */
function drawTable<Row>(
  columns: Columns<Row>,
  caption: string,
  {
    lines,
    totals,
    linkOf,
  }: {
    readonly lines: readonly Row[];
    readonly totals: readonly Row[];
    readonly linkOf?: LinkOf<Row> | undefined;
  },
): string {
  const titles = columns.map(({ title, kind }) => {
    return `<th scope="col"${attributesOf[kind]}>${escapeText(title)}</th>`;
  });
  return `<section class="lines" aria-label="${escapeHtml(caption)}" tabindex="0">
<table>
<caption>${escapeText(caption)}</caption>
<thead><tr>${titles.join('')}</tr></thead>
<tbody>
${lines.map(createLineFormatter(columns, linkOf)).join('') || noLines(columns)}</tbody>
${formatTotals(columns, totals)}</table>
</section>
`;
}

/** The address that a cell links to, if any. */
export type LinkOf<Row> = (row: Row, column: SheetColumn<Row>) => string | undefined;

function createLineFormatter<Row>(columns: Columns<Row>, linkOf?: LinkOf<Row>): (row: Row) => string {
  return (row) => {
    const cells = columns.map((column, index) => {
      const { kind, value } = column;
      const shown = value(row);
      const text = formatHtmlCell(kind, shown);
      const link = linkOf?.(row, column);
      const cell = `${attributesOf[kind]}${widthClass(kind, shown)}>${link === undefined ? text : `<a href="${escapeHtml(link)}">${text}</a>`}`;
      return index === 0 ? `<th scope="row"${cell}</th>` : `<td${cell}</td>`;
    });
    return `<tr>${cells.join('')}</tr>\n`;
  };
}

/** Short texts stay on one line; long ones get a wide column, because the table scrolls. */
function widthClass(kind: CellKind, value: CellValue): string {
  if (kind !== 'text' || typeof value !== 'string' || value === '') return '';
  return value.length <= 20 ? ' class="s"' : value.length > 36 ? ' class="l"' : '';
}

function noLines<Row>(columns: Columns<Row>): string {
  return `<tr><td colspan="${columns.length}">No lines.</td></tr>\n`;
}

function formatTotals<Row>(columns: Columns<Row>, totals: readonly Row[]): string {
  if (totals.length === 0) return '';
  // Many would cover the lines.
  const attribute = totals.length <= 3 ? ' class="few"' : '';
  return `<tfoot${attribute}>\n${totals.map(createLineFormatter(columns)).join('')}</tfoot>\n`;
}

function formatRest(first: number, last: number, allLines: AllLines | undefined): string {
  const which =
    first === last
      ? `Line ${groupThousands(last)} is`
      : `Lines ${groupThousands(first)} to ${groupThousands(last)} are`;
  const how =
    allLines === undefined
      ? 'Other formats, such as csv, have every line.'
      : `Every line, as CSV: <code>${escapeText(allLines)}</code>`;
  return `<p class="rest">${which} not in this page; totals are of all lines. ${how}</p>\n`;
}

function formatHtmlCell(kind: CellKind, value: CellValue): string {
  // Lets a narrow cell break between date and time only.
  if (value instanceof Date) return formatUtc(value).replace(/\S+/g, '<span>$&</span>');
  const text = cellText(value);
  return escapeText(kind === 'text' ? text : groupThousands(text));
}
