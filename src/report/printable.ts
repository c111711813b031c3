import { activeText } from '../domain/files.ts';

/** Shows control and bidi characters of foreign text by their codes, because terminals and browsers would obey them. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escapeControl);
}

/** Does the same, but keeps lines and tabs, for whole files. In JSON the result is a JSON escape. */
export function printableFile(text: string): string {
  return text.replace(/(?![\t\n]|\r\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escapeUnicode);
}

/** Does the same, but keeps Volley's own colour codes (ESC). */
export function printableLines(text: string): string {
  return text.split('\u001b').map(printableFile).join('\u001b');
}

function escapeControl(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : escapeUnicode(character);
}

function escapeUnicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Numbers with a sign are no formulas: `+64211234567`, `-1.50`. */
export const plainNumber = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * Puts an apostrophe before a text that a spreadsheet would run as a formula, and before existing apostrophes. So
 * `contacts/result-file.ts` can restore the text.
 */
export function escapeFormula(text: string): string {
  return activeText.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
