import { type Html, html } from '../../report/html/html.ts';

/** Characters that people read at a glance. */
const maxShown = 300;

/**
 * Words of the service or a person, of any length: the rest of a long one is a click away.
 *
 * @param id unique on the page; needed in a live part, which keeps open what has one
 */
export function longText(text: string, id?: string): Html {
  if (text.length <= maxShown) return html`<span dir="auto">${linesOf(text)}</span>`;
  const begin = linesOf(`${text.slice(0, maxShown).toWellFormed()}…`);
  return html`<details class="long"${id !== undefined && html` id="${id}"`}><summary dir="auto">${begin}</summary><span dir="auto">${linesOf(text)}</span></details>`;
}

function linesOf(text: string): readonly Html[] {
  return text.split('\n').map((line, index) => html`${index > 0 && html`<br>`}${line}`);
}
