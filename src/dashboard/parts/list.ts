import { type Columns, columnsFor } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { htmlTable, type TableOptions } from '../../report/html/table.ts';
import type { PageLink } from '../base/layout.ts';
import type { Viewer } from '../base/view.ts';
import { pathOf } from '../paths.ts';

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
  /** The page that the person looks at. */
  readonly place?: string | undefined;
};

/** Links between the pages of a list. */
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
export type RecipientCursor = { readonly request: number; readonly position: number };

/** The cursor as an address has it. */
export function cursorText({ request, position }: RecipientCursor): string {
  return `${request}-${position}`;
}

/** @returns undefined for what is no cursor, which begins the list */
export function parseCursor(text: string): RecipientCursor | undefined {
  const [, request, position] = /^(\d{1,9})-(\d{1,9})$/.exec(text) ?? [];
  return request === undefined ? undefined : { request: Number(request), position: Number(position) };
}
