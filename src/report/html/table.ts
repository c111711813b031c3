import {
  type CellKind,
  type Column,
  type Columns,
  type Link,
  noteText,
  shownText,
  titleOf,
} from '../column.ts';
import { withEvenDecimals } from '../formats/even-decimals.ts';
import type { Sheet } from '../formats/sheet.ts';
import { badge, longText, shortened } from './cells.ts';
import { groupThousands } from './figures.ts';
import { type Html, html, type Part } from './html.ts';
import { escapeText } from './text.ts';

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
  yield htmlTable(caption, columns, first.slice(0, maxVisible), { totals }).text;
  const folded = first.slice(maxVisible);
  if (folded.length === 0) return;
  const last = first.length;
  const range = `Lines ${groupThousands(maxVisible + 1)} to ${groupThousands(last)}`;
  const which = `${range}${count === last ? '' : ` of ${groupThousands(count)}`}`;
  yield `<details class="more">\n<summary>${which}</summary>\n${htmlTable(`${caption}: ${range}`, columns, folded).text}</details>\n`;
  if (count > last) yield formatRest(last + 1, count, allLines);
}

/** Of a page of the dashboard. A file has UTC, no links, and its words as a whole. */
export type PageView = { readonly zone: string; readonly pathOf: (link: Link) => string };

export type TableOptions<Row> = {
  readonly totals?: readonly Row[];
  readonly view?: PageView | undefined;
  readonly id?: string | undefined;
  /** Names a row, so that long words of a live part stay open. */
  readonly rowId?: ((row: Row) => string) | undefined;
};

/** It scrolls within its frame, so the keyboard must reach it. */
export function htmlTable<Row>(
  caption: string,
  list: Columns<Row>,
  lines: readonly Row[],
  { totals = [], view, id, rowId }: TableOptions<Row> = {},
): Html {
  const columns = withEvenDecimals(list, [...lines, ...totals]);
  const titles = columns.map(
    (column) => html`<th scope="col"${attributesOf(column.kind)}>${titleOf(column, view?.zone)}</th>`,
  );
  const lineOf = (row: Row): Html => {
    const cells = columns.map((column, index) =>
      tableCell(column, row, { isFirst: index === 0, view, rowId }),
    );
    return html`<tr>${cells}</tr>
`;
  };
  const none = html`<tr><td colspan="${columns.length}">No lines.</td></tr>
`;
  return html`<section class="lines" aria-label="${caption}" tabindex="0"${id !== undefined && html` id="${id}"`}>
<table>
<caption>${caption}</caption>
<thead><tr>${titles}</tr></thead>
<tbody>
${lines.length === 0 ? none : lines.map(lineOf)}</tbody>
${
  totals.length > 0 &&
  html`<tfoot${manyTotals(totals.length)}>
${totals.map(lineOf)}</tfoot>
`
}</table>
</section>
`;
}

/** Many would cover the lines. */
function manyTotals(totals: number): Html | false {
  return totals <= 3 && html` class="few"`;
}

const attributes = {
  number: html` class="n"`,
  time: html` class="t"`,
  text: html` dir="auto"`,
  short: html` dir="auto" class="s"`,
  long: html` dir="auto" class="l"`,
} as const;

/** Short texts stay on one line; long ones get a wide column, because the table scrolls. @param text of a cell; undefined for a title */
function attributesOf(kind: CellKind, text?: string): Html {
  switch (kind) {
    case 'integer':
    case 'decimal':
      return attributes.number;
    case 'time':
      return attributes.time;
    case 'words':
      return text === undefined ? attributes.text : attributes.long;
    case 'state':
      return attributes.text;
    case 'text':
      if (!text) return attributes.text;
      return text.length > 36 ? attributes.long : text.length <= 20 ? attributes.short : attributes.text;
  }
}

type CellPlace<Row> = Pick<TableOptions<Row>, 'view' | 'rowId'> & { readonly isFirst: boolean };

function tableCell<Row>(column: Column<Row>, row: Row, { isFirst, view, rowId }: CellPlace<Row>): Html {
  const text = column.cell ? '' : shownText(column, row, view?.zone ?? 'UTC');
  const asKind = attributesOf(column.kind, text);
  const content = column.cell ? column.cell(row) : withNote(column, row, text, { view, rowId });
  return isFirst ? html`<th scope="row"${asKind}>${content}</th>` : html`<td${asKind}>${content}</td>`;
}

function withNote<Row>(
  column: Column<Row>,
  row: Row,
  text: string,
  { view, rowId }: Pick<TableOptions<Row>, 'view' | 'rowId'>,
): Part {
  const target = text === '' ? null : (column.target?.(row) ?? null);
  const wordsId = rowId && `${column.key}-${rowId(row)}`;
  const content =
    view && target
      ? html`<a href="${view.pathOf(target)}">${cellContent(column.kind, shortened(text))}</a>`
      : view && column.kind === 'words'
        ? longText(text, wordsId)
        : cellContent(column.kind, text);
  const note = noteText(column, row, view?.zone ?? 'UTC');
  return note === '' ? content : html`${content} <small>${note}</small>`;
}

function cellContent(kind: CellKind, text: string): Part {
  if (text === '' || kind === 'text' || kind === 'words') return text;
  if (kind === 'state') return badge(text);
  // Lets a narrow cell break between date and time only.
  if (kind === 'time')
    return text.split(' ').map((part, index) => html`${index > 0 && ' '}<span>${part}</span>`);
  return groupThousands(text);
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
