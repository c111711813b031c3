import type { Format } from '../domain/message.ts';

/**
 * Which characters a format cannot carry. The rule, everywhere: such text is refused, by name; nothing is dropped or
 * replaced.
 *
 * JSON carries any Unicode text. XML 1.0 has no way to write control characters other than tab, line feed and carriage
 * return, nor U+FFFE and U+FFFF (production `Char` of its specification). Half of a surrogate pair is no character.
 */
const notInXml = /[[\p{Cc}--[\t\n\r\x7f-\x9f]]\ufffe\uffff]/v;
const loneSurrogate = /\p{Surrogate}/u;

/** The first character of a text that the format cannot carry, such as `U+0007`; undefined when it carries all. */
export function firstUnsupportedCharacter(format: Format, text: string): string | undefined {
  const [found] =
    (format === 'xml' ? notInXml.exec(text) : null) ??
    (text.isWellFormed() ? null : loneSurrogate.exec(text)) ??
    [];
  if (found === undefined) return undefined;
  return `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** The text with `?` for each character that XML cannot carry: for answers, which quote what others sent. */
export function replaceUnsupportedCharacters(text: string): string {
  return text.toWellFormed().replaceAll(new RegExp(notInXml, 'gv'), '?');
}
