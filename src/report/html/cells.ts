import { formatLocal } from '../time.ts';
import { type Html, html } from './html.ts';

/** A time in a sentence or figure; a table has columns of times. */
export function time(at: Date, zone: string): Html {
  return html`<time datetime="${at.toISOString()}">${formatLocal(at, zone)}</time>`;
}

/** @param state a word of a closed list */
export function badge(state: string): Html {
  return html`<span class="badge" data-state="${state.replaceAll(/[ _]/g, '-')}">${state.replaceAll('_', ' ')}</span>`;
}

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

/** What people read of a text of any length; a page or download has all of it. Never cut within a character. */
export function shortened(text: string, most = maxShown): string {
  return text.length <= most ? text : `${[...text.slice(0, most + 1)].slice(0, -1).join('')}…`;
}
