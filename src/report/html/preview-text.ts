import { escapeHtml } from '../../domain/html.ts';
import { characterName } from '../../platform/invisible-characters.ts';

/** Controls and bidi characters, which a browser would obey; line breaks and tabs stay. */
const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu;

/** A text of a message with its line breaks. Characters that a reader cannot see are shown by their codes. */
export function showText(text: string): string {
  const lines = text.toWellFormed().replace(/\r\n?/g, '\n');
  return escapeHtml(lines).replace(obeyed, (character) => {
    const [code = ''] = characterName(character).split(' ');
    return `<span class="code" title="${escapeHtml(characterName(character))}">${code}</span>`;
  });
}

/** A list of terms and values; a term without a value is left out. Values are HTML. */
export function formatFacts(facts: readonly (readonly [string, string])[]): string {
  const rows = facts
    .filter(([, value]) => value !== '')
    .map(([term, value]) => `<div><dt>${escapeHtml(term)}</dt><dd dir="auto">${value}</dd></div>`);
  return rows.length === 0 ? '' : `<dl class="facts">${rows.join('')}</dl>\n`;
}

/** `12 bytes`, `3.4 KB`, `2.0 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
