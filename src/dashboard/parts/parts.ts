import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { formatLocal } from '../../report/time.ts';

export function number(count: number): string {
  return groupThousands(count);
}

export function time(at: Date, zone: string): Html {
  return html`<time datetime="${at.toISOString()}">${formatLocal(at, zone)}</time>`;
}

/** `1 request`, `2 requests`. */
export function counted(count: number, word: string): string {
  return `${groupThousands(count)} ${word}${count === 1 ? '' : 's'}`;
}

/** A sentence with what is to be typed between backticks. */
export function withCode(text: string): readonly Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

export function badge(state: string): Html {
  return html`<span class="badge" data-state="${state.replaceAll(' ', '-')}">${state.replaceAll('_', ' ')}</span>`;
}

/** What people read of a text of any length; a page or download has all of it. Never cut within a character. */
export function shortened(text: string, most = 300): string {
  return text.length <= most ? text : `${[...text.slice(0, most + 1)].slice(0, -1).join('')}…`;
}

export type TableColumn<Row> = {
  readonly title: string;
  /** Numbers stand at the end. */
  readonly isNumber?: boolean;
  /** Words of any length: the column stays wide enough to read them, and the table scrolls. */
  readonly isLong?: boolean;
  readonly cell: (row: Row) => Part;
};

/** It scrolls within its frame, so the keyboard must reach it. */
export function table<Row>(
  caption: string,
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  id?: string,
): Html {
  const side = (column: TableColumn<Row>): Html =>
    column.isNumber ? html` class="n"` : html`${column.isLong && html` class="l"`} dir="auto"`;
  const head = columns.map((column) => html`<th scope="col"${side(column)}>${column.title}</th>`);
  const lines = rows.map((row) => {
    const cells = columns.map((column, index) =>
      index === 0
        ? html`<th scope="row"${side(column)}>${column.cell(row)}</th>`
        : html`<td${side(column)}>${column.cell(row)}</td>`,
    );
    return html`<tr>${cells}</tr>
`;
  });
  return html`<section class="lines" aria-label="${caption}" tabindex="0"${id !== undefined && html` id="${id}"`}>
<table>
<caption>${caption}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${lines}</tbody>
</table>
</section>
`;
}

export type Figure = { readonly name: string; readonly value: Part; readonly note?: Part };

export function figures(list: readonly Figure[]): Html {
  const items = list.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note !== undefined && note !== '' && html` <small>${note}</small>`}</dd></div>`,
  );
  return html`<dl class="figures-list">${items}</dl>`;
}
