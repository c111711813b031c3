/**
 * Text from files and from the service may hold characters that a terminal or a browser obeys instead of showing:
 * controls move the cursor, bidi controls turn the direction of what follows. They are shown by their numbers.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escapeControl);
}

/**
 * As `printable`, for whole files on a screen, such as CSV and JSON: lines and tabs stay. Inside JSON, what it writes is
 * JSON's own escape.
 */
export function printableFile(text: string): string {
  return text.replace(/(?![\t\n]|\r\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, escapeUnicode);
}

/** As `printableFile`, for lines that Volley has put together itself: their colours, which begin with ESC, stay. */
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
