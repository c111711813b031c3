import type { Format } from '../domain.ts';

/**
 * Which characters a format cannot carry. The rule, everywhere: such text is refused, by name; nothing is dropped or
 * replaced.
 *
 * JSON carries any Unicode text. XML 1.0 has no way to write control characters other than tab, line feed and carriage
 * return, nor U+FFFE and U+FFFF (production `Char` of its specification). Half of a surrogate pair is no character.
 */
const notInXml = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/;
const loneSurrogate = /\p{Surrogate}/u;

/** The first character of a text that the format cannot carry, such as `U+0007`; undefined when it carries all. */
export function uncarriable(format: Format, text: string): string | undefined {
  const [found] = (format === 'xml' ? notInXml.exec(text) : null) ?? loneSurrogate.exec(text) ?? [];
  if (found === undefined) return undefined;
  return `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}
