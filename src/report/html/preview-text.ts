import { escapeHtml } from '../../domain/html.ts';
import type { RenderedFile } from '../../domain/rendered-message.ts';
import { characterName } from '../../platform/invisible-characters.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html, type Part } from './html.ts';

/** Controls and bidi characters, which a browser would obey; line breaks and tabs stay. */
const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** A text of a message with its line breaks. Characters that a reader cannot see are shown by their codes. */
export function showText(text: string): Html {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n');
  const shown = escapeHtml(lines).replace(obeyed, (character) => {
    const name = characterName(character);
    return html`<span class="code" title="${name}">${name.split(' ')[0]}</span>`.text;
  });
  return { kind: 'html', text: shown };
}

/** A text of a message, or other words where it is empty. */
export function showTextOr(text: string | undefined, otherwise: Part): Part {
  return text === undefined || text === '' ? otherwise : showText(text);
}

/** A list of terms and values; a term with an empty value is left out. */
export function factList(facts: readonly (readonly [string, Part])[]): Html | undefined {
  const rows = facts
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([term, value]) => html`<div><dt>${term}</dt><dd dir="auto">${value}</dd></div>`);
  if (rows.length === 0) return undefined;
  return html`<dl class="facts">${rows}</dl>
`;
}

/** `12 bytes`, `3.4 KB`, `2.0 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return count(bytes, 'byte');
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The size of a file, and its pages where they are known. */
export function formatFileSize({ bytes, pages }: RenderedFile): string {
  return pages === null ? formatBytes(bytes) : `${formatBytes(bytes)}, ${count(pages, 'page')}`;
}
