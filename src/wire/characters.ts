import type { Format } from '../domain/message.ts';

/**
 * Text that a format cannot carry is refused by name; nothing is dropped or replaced.
 *
 * XML 1.0 cannot carry control characters other than tab, line feed and carriage return, nor U+FFFE and
 * U+FFFF. Neither JSON nor XML carries a lone surrogate.
 */
const notInXml = /[[\p{Cc}--[\t\n\r\x7f-\x9f]]\ufffe\uffff]/v;
const loneSurrogate = /\p{Surrogate}/u;

/** @returns the first such character, as `U+0007`; undefined if the format carries the text */
export function firstUnsupportedCharacter(format: Format, text: string): string | undefined {
  const [found] =
    (format === 'xml' ? notInXml.exec(text) : null) ??
    (text.isWellFormed() ? null : loneSurrogate.exec(text)) ??
    [];
  if (found === undefined) return undefined;
  return `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Writes `?` instead of each character that XML cannot carry, in answers that quote a caller. */
export function replaceUnsupportedCharacters(text: string): string {
  return text.toWellFormed().replaceAll(new RegExp(notInXml, 'gv'), '?');
}
