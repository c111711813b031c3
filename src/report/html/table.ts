import {
  type CellKind,
  type Column,
  type Columns,
  isNumber,
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

/** More lines are read by programs; a browser holds a page whole. */
const maxVisible = 200;
const maxFolded = 1_800;

/** The first lines, those that open on a click, how many more there are, and the totals of all. */
export async function* formatHtmlTable<Row>(
  sheet: Pick<Sheet<Row>, 'columns' | 'rows' | 'totals'>,
  caption: string,
): AsyncGenerator<Html, void, undefined> {
  const first: Row[] = [];
  let count = 0;
  for await (const batch of sheet.rows) {
    first.push(...batch.slice(0, maxVisible + maxFolded - first.length));
    count += batch.length;
  }
  const totals = sheet.totals ? await sheet.totals() : [];
  const columns = withEvenDecimals(sheet.columns, [...first, ...totals]);
  yield drawTable(caption, columns, first.slice(0, maxVisible), { totals });
  const folded = first.slice(maxVisible);
  if (folded.length === 0) return;
  const last = first.length;
  const range = `Lines ${groupThousands(maxVisible + 1)} to ${groupThousands(last)}`;
  const which = `${range}${count === last ? '' : ` of ${groupThousands(count)}`}`;
  yield html`<details class="more">
<summary>${which}</summary>
${drawTable(`${caption}: ${range}`, columns, folded)}</details>
`;
  if (count > last) yield restPart(last + 1, count);
}

/** How a page of the dashboard shows a table. A file has UTC, no links, and its words as a whole. */
export type PageView = { readonly zone: string; readonly pathOf: (link: Link) => string };

export type TableOptions<Row> = {
  readonly totals?: readonly Row[];
  readonly view?: PageView | undefined;
  readonly id?: string | undefined;
  /** Names a row, so that long words of a live part stay open. */
  readonly rowId?: ((row: Row) => string) | undefined;
  readonly sorting?: Sorting | undefined;
};

/** The titles of columns that the table can be sorted by are links. */
export type Sorting = {
  readonly sort: Sort | undefined;
  readonly isKey: (key: string) => boolean;
  readonly pathOf: (sort: Sort) => string;
};

export type Sort = { readonly by: string; readonly descending: boolean };

/** Numbers are sorted from the largest, texts from the first; once more turns it round. */
function titleCell<Row>(column: Column<Row>, title: string, sorting: Sorting | undefined): Html {
  const { key, kind } = column;
  if (!sorting?.isKey(key)) return html`<th scope="col"${attributesOf(kind)}>${title}</th>`;
  const current = sorting.sort?.by === key ? sorting.sort : undefined;
  const order = current && html` aria-sort="${current.descending ? 'descending' : 'ascending'}"`;
  const path = sorting.pathOf({ by: key, descending: current ? !current.descending : isNumber(column) });
  return html`<th scope="col"${attributesOf(kind)}${order}><a href="${path}">${title}</a></th>`;
}

/** A table of a page. Decimals that stand below each other have equally many places. */
export function htmlTable<Row>(
  caption: string,
  columns: Columns<Row>,
  lines: readonly Row[],
  options: TableOptions<Row> = {},
): Html {
  const even = withEvenDecimals(columns, [...lines, ...(options.totals ?? [])]);
  return drawTable(caption, even, lines, options);
}

/** It scrolls within its frame, so the keyboard must reach it. */
function drawTable<Row>(
  caption: string,
  columns: Columns<Row>,
  lines: readonly Row[],
  { totals = [], view, id, rowId, sorting }: TableOptions<Row> = {},
): Html {
  const titles = columns.map((column) => titleCell(column, titleOf(column, view?.zone), sorting));
  // For narrow screens, where the head is not in sight.
  const besides = columns.map(({ title }) => view && html` data-title="${title}"`);
  const lineOf = (row: Row): Html => {
    const cells = columns.map((column, index) => {
      const { attributes, content } = cellOf(column, row, { view, rowId });
      return index === 0
        ? html`<th scope="row"${besides[index]}${attributes}>${content}</th>`
        : html`<td${besides[index]}${attributes}>${content}</td>`;
    });
    return html`<tr>${cells}</tr>
`;
  };
  const none = html`<tr><td colspan="${columns.length}">No lines.</td></tr>
`;
  // Many totals would cover the lines.
  const foot = totals.length <= 3 && html` class="few"`;
  return html`<section class="lines" aria-label="${caption}" tabindex="0"${id !== undefined && html` id="${id}"`}>
<table>
<caption>${caption}</caption>
<thead><tr>${titles}</tr></thead>
<tbody>
${lines.length === 0 ? none : lines.map(lineOf)}</tbody>
${
  totals.length > 0 &&
  html`<tfoot${foot}>
${totals.map(lineOf)}</tfoot>
`
}</table>
</section>
`;
}

const attributesOfKind = {
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
      return attributesOfKind.number;
    case 'time':
      return attributesOfKind.time;
    case 'words':
      return text === undefined ? attributesOfKind.text : attributesOfKind.long;
    case 'state':
      return attributesOfKind.text;
    case 'text':
      if (!text) return attributesOfKind.text;
      if (text.length > 36) return attributesOfKind.long;
      return text.length <= 20 ? attributesOfKind.short : attributesOfKind.text;
  }
}

type Cell = { readonly attributes: Html; readonly content: Part };

function cellOf<Row>(
  column: Column<Row>,
  row: Row,
  { view, rowId }: Pick<TableOptions<Row>, 'view' | 'rowId'>,
): Cell {
  const { kind } = column;
  if (column.cell) return { attributes: attributesOf(kind, ''), content: column.cell(row) };
  const text = shownText(column, row, view?.zone ?? 'UTC');
  const attributes = attributesOf(kind, text);
  if (!view) return { attributes, content: withNote(cellContent(kind, text), noteText(column, row, 'UTC')) };
  const target = text === '' ? undefined : column.target?.(row);
  const wordsId = rowId && `${column.key}-${rowId(row)}`;
  const content = target
    ? html`<a href="${view.pathOf(target)}">${cellContent(kind, shortened(text))}</a>`
    : kind === 'words' && text !== ''
      ? longText(text, wordsId)
      : cellContent(kind, text);
  return { attributes, content: withNote(content, noteText(column, row, view.zone)) };
}

function withNote(content: Part, note: string): Part {
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

function restPart(first: number, last: number): Html {
  const which =
    first === last
      ? `Line ${groupThousands(last)} is`
      : `Lines ${groupThousands(first)} to ${groupThousands(last)} are`;
  return html`<p class="rest">${which} not in this page; totals are of all lines. Other formats, such as csv, have every line.</p>
`;
}
