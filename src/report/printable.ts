/** Shows control and bidi characters of foreign text by their codes, because terminals and browsers would obey them. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escapeControl);
}

/** As `printable`, but keeps lines and tabs, for whole files. In JSON the result is a JSON escape. */
export function printableFile(text: string): string {
  return text.replace(/(?![\t\n]|\r\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escapeUnicode);
}

/** As `printableFile`, but keeps Volley's own colour codes (ESC). */
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
