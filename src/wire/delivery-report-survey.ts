/**
 * A look at a body before it is parsed: whoever knows the receiver's address can send anything, and parsers take time and
 * memory for what no report has (measurements: docs/interfaces.md). One pass, in linear time. A real report has about 20
 * members in two levels.
 */

/** Members, items of lists and elements, over all levels. */
export const mostMembers = 500;
/** Levels of nesting. */
export const deepest = 32;
/** Characters of one tag, comment or processing instruction; the parser's time for a tag grows with their square. */
export const longestMarkup = 1024;
/** Characters of all tags, comments and processing instructions together. */
export const mostMarkup = 32 * 1024;
/** References (`&amp;`, `&#65;`) in a body. */
export const mostReferences = 10_000;

export type Survey = {
  /** Why the body is not to be parsed; undefined when it may be. */
  readonly trouble?: string;
};

export const tooMany = `it has more than ${mostMembers} members`;
const tooDeep = `it is nested deeper than ${deepest} levels`;

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const colon = code(':');
const [openObject, closeObject, openList, closeList] = [code('{'), code('}'), code('['), code(']')];

/** @returns also how many names the outermost object has, those that come twice counted twice */
export function surveyJson(body: Uint8Array): Survey & { readonly names: number } {
  let members = 0;
  let depth = 0;
  let names = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (byte === quote) {
      at = endOfString(body, at);
    } else if (byte === comma) {
      members++;
    } else if (byte === colon) {
      if (depth === 1) names++;
    } else if (byte === openObject || byte === openList) {
      if (++depth > deepest) return { trouble: tooDeep, names };
    } else if (byte === closeObject || byte === closeList) {
      depth--;
    }
    if (members > mostMembers) return { trouble: tooMany, names };
  }
  return { names };
}

/** @param start the index of the quote that begins it */
function endOfString(body: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < body.length && body[at] !== quote) at += body[at] === backslash ? 2 : 1;
  return at;
}

export function surveyXml(text: string): Survey {
  let elements = 0;
  let depth = 0;
  let markup = 0;
  for (let at = text.indexOf('<'); at >= 0; ) {
    const end = endOfMarkup(text, at);
    if (typeof end === 'string') return { trouble: end };
    if (!text.startsWith('<![CDATA[', at)) markup += end - at;
    if (text[at + 1] === '/') {
      depth--;
    } else if (text[at + 1] !== '?' && text[at + 1] !== '!') {
      if (text[end - 2] !== '/' && ++depth > deepest) return { trouble: tooDeep };
    }
    if (++elements > 2 * mostMembers) return { trouble: tooMany };
    if (markup > mostMarkup) return { trouble: `it has more than ${mostMarkup} characters of markup` };
    at = text.indexOf('<', end);
  }
  return occursMoreThan(text, '&', mostReferences)
    ? { trouble: `it has more than ${mostReferences} references` }
    : {};
}

/** Where a tag, comment, CDATA section or processing instruction ends, or what is wrong with it. */
function endOfMarkup(text: string, start: number): number | string {
  if (text.startsWith('<![CDATA[', start)) return after(text, ']]>', start + 9, text.length);
  if (text.startsWith('<!--', start)) return after(text, '-->', start + 4, start + longestMarkup);
  if (text.startsWith('<!', start)) return 'it has a document type';
  if (text.startsWith('<?', start)) return after(text, '?>', start + 2, start + longestMarkup);
  const last = Math.min(text.length, start + longestMarkup);
  let within = '';
  for (let at = start; at < last; at++) {
    const character = text[at] ?? '';
    if (within !== '') {
      if (character === within) within = '';
    } else if (character === '>') {
      return at + 1;
    } else if (character === '"' || character === "'") {
      within = character;
    }
  }
  return neverEnds;
}

const neverEnds = `a tag or comment in it does not end within ${longestMarkup} characters`;

/** @param last the index that the end has to stand before */
function after(text: string, end: string, from: number, last: number): number | string {
  const at = text.slice(from, last).indexOf(end);
  return at < 0 ? neverEnds : from + at + end.length;
}

export function occursMoreThan(text: string, character: string, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
    if (++count > most) return true;
  }
  return false;
}
