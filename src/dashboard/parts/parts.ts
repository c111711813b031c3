import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';

export function number(count: number): string {
  return groupThousands(count);
}

/** A sentence with what is to be typed between backticks. */
export function withCode(text: string): readonly Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

export type Figure = { readonly name: string; readonly value: Part; readonly note?: Part };

export function figures(list: readonly Figure[]): Html {
  const items = list.map(
    ({ name, value, note }) =>
      html`<div><dt>${name}</dt><dd>${value}${note !== undefined && note !== '' && html` <small>${note}</small>`}</dd></div>`,
  );
  return html`<dl class="figures-list">${items}</dl>`;
}
