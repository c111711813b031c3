import { type Column, type Columns, columnsFor } from '../../report/column.ts';
import { usualColumns } from '../../report/column-choice.ts';
import { type Html, html } from '../../report/html/html.ts';
import { htmlTable, type TableOptions } from '../../report/html/table.ts';
import { type HttpFormat, httpFormats } from '../../server/api/send-report.ts';
import type { PageLink } from '../base/layout.ts';
import type { View, Viewer } from '../base/view.ts';
import { pathOf } from '../paths.ts';
import { keptFields } from './form-fields.ts';

type List<Row> = Omit<TableOptions<Row>, 'view'> & {
  readonly caption: string;
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
};

/** A list as a table of a page, with links and in the zone of the person. Without times it needs no zone. */
export function listTable<Row>(
  { caption, columns, rows, ...options }: List<Row>,
  { zone }: Pick<Viewer, 'zone'> = { zone: 'UTC' },
): Html {
  return htmlTable(caption, columnsFor(columns, 'page'), rows, { ...options, view: { zone, pathOf } });
}

type PagedList<Row> = Omit<List<Row>, 'rows'> & {
  /** One more than a page has, if there is another page. */
  readonly found: readonly Row[];
  readonly perPage: number;
  /** What stands there instead of a table without lines. */
  readonly none: Html;
  /** The next page. @param last the row before it */
  readonly next: (last: Row) => PageLink;
  /** The first page, where this is a later one. */
  readonly first?: PageLink | undefined;
};

/** A page of a list that is read by key: its rows, and links to the pages after it and before all. */
export function pagedList<Row>(
  { found, perPage, none, next, first, ...list }: PagedList<Row>,
  viewer: Pick<Viewer, 'zone'>,
): Html {
  const rows = found.slice(0, perPage);
  const last = found.length > perPage ? rows.at(-1) : undefined;
  return html`${rows.length === 0 ? none : listTable({ ...list, rows }, viewer)}
${pager({ first, next: last && next(last) })}`;
}

type Pager = {
  readonly first?: PageLink | undefined;
  readonly previous?: PageLink | undefined;
  readonly next?: PageLink | undefined;
  readonly place?: string | undefined;
};

export function pager({ first, previous, next, place }: Pager): Html | undefined {
  if (!first && !previous && !next) return undefined;
  return html`<nav class="pager" aria-label="Pages">
${first && html`<a href="${first.href}">${first.text}</a>`}
${previous && html`<a rel="prev" href="${previous.href}">${previous.text}</a>`}
${place !== undefined && html`<span>${place}</span>`}
${next && html`<a rel="next" href="${next.href}">${next.text}</a>`}
</nav>`;
}

/** Where a list of the recipients of a run begins: after one of them, such as `12-3` for the third recipient of request 12. */
type RecipientCursor = { readonly request: number; readonly position: number };

export function cursorText({ request, position }: RecipientCursor): string {
  return `${request}-${position}`;
}

/** @returns undefined for what is no cursor, which begins the list */
export function parseCursor(text: string): RecipientCursor | undefined {
  const [, request, position] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  return request === undefined ? undefined : { request: Number(request), position: Number(position) };
}

/**
 * The columns of a list for a person: those that the address names, those chosen before in this browser, or the usual
 * ones; with a form that chooses others, and what the browser keeps for the next time.
 *
 * @param list its name
 * @param isFixed whether a person cannot leave out the column
 */
export function chooseColumns<Row>(
  list: string,
  columns: Columns<Row>,
  isFixed: (column: Column<Row>) => boolean,
  { cookies, address }: Pick<View, 'cookies' | 'address'>,
) {
  const name = `volley_columns_${list}`;
  const query = new URLSearchParams(address.replace(/^[^?]*/, ''));
  const asked = query.getAll('columns').filter((key) => columns.some((column) => column.key === key));
  const wanted = asked.length > 0 ? asked : (cookies[name] ?? '').split('.');
  const filled = columns.filter(({ blank }) => !blank);
  const chosen = filled.filter((column) => isFixed(column) || wanted.includes(column.key));
  const shown = chosen.every(isFixed) ? usualColumns(filled) : chosen;
  const boxes = filled.map((column) => {
    const isShown = shown.includes(column);
    return html`<label><input type="checkbox" name="columns" value="${column.key}"${isShown && html` checked`}${isFixed(column) && html` disabled`}> ${column.title}</label> `;
  });
  return {
    columns: shown,
    cookie: asked.length > 0 ? { name, value: asked.join('.') } : undefined,
    form: html`<details><summary>Columns: ${shown.length} of ${filled.length}</summary>
<form method="get">${keptFields(address, ['columns'])}<fieldset><legend>Columns of the table</legend>${boxes}</fieldset>
<p class="buttons"><button>Show these columns</button></p></form></details>`,
  };
}

const names: Readonly<Record<HttpFormat, string>> = {
  csv: 'CSV',
  xlsx: 'Workbook (.xlsx)',
  json: 'JSON',
  ndjson: 'JSON lines',
  html: 'Page to print',
};

export function downloadLinks(addressOf: (format: HttpFormat) => string): Html {
  const links = httpFormats.map(
    (format) => html`<li><a href="${addressOf(format)}">${names[format]}</a></li>`,
  );
  return html`<section class="downloads" aria-labelledby="downloads"><h2 id="downloads">Download every line</h2>
<ul>${links}</ul></section>`;
}
