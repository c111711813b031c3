/**
 * Checks a body in one pass before a parser sees it. Anyone who knows the receiver's address can send
 * anything, and parsers spend time and memory on structure that no delivery report has (measurements:
 * docs/reference/interfaces.md). A real one has about 20 members in two levels.
 */

/** Members, list items and elements of a report, over all levels. */
export const maxMembers = 500;
/** The same of a call that may have several reports. */
const maxMembersOfSeveral = 20_000;
const maxDepth = 32;
/** Characters of one tag, comment or processing instruction. Parsing time grows with their square. */
export const maxTagLength = 1024;
/** Characters of all tags, comments and processing instructions together. */
export const maxMarkup = 32 * 1024;
/** References such as `&amp;` and `&#65;`. */
export const maxReferences = 10_000;

type LimitCheck = {
  /** Why the body must not be parsed; undefined when it may be. */
  readonly problem?: string;
};

const tooMany = (most: number): string => `it has more than ${most} members`;
export const tooManyMembers = tooMany(maxMembers);
const maxMembersOf = (reports: number): number => (reports > 1 ? maxMembersOfSeveral : maxMembers);
const tooDeep = `it is nested deeper than ${maxDepth} levels`;

const code = (character: string): number => character.charCodeAt(0);
const quote = code('"');
const backslash = code('\\');
const comma = code(',');
const colon = code(':');
const [openObject, closeObject, openList, closeList] = [code('{'), code('}'), code('['), code(']')];

/**
 * @param reports that the call may have
 * @returns also the number of names in the outermost object, including repeated ones
 */
export function checkJsonLimits(
  body: Uint8Array,
  reports = 1,
): LimitCheck & { readonly topLevelNames: number } {
  const most = maxMembersOf(reports);
  let members = 0;
  let depth = 0;
  let topLevelNames = 0;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] ?? 0;
    if (byte === quote) {
      index = endOfString(body, index);
    } else if (byte === comma) {
      members++;
    } else if (byte === colon) {
      if (depth === 1) topLevelNames++;
    } else if (byte === openObject || byte === openList) {
      if (++depth > maxDepth) return { problem: tooDeep, topLevelNames };
    } else if (byte === closeObject || byte === closeList) {
      depth--;
    }
    if (members > most) return { problem: tooMany(most), topLevelNames };
  }
  return { topLevelNames };
}

function endOfString(body: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < body.length && body[index] !== quote) index += body[index] === backslash ? 2 : 1;
  return index;
}

/** @param reports that the call may have */
export function checkXmlLimits(text: string, reports = 1): LimitCheck {
  const most = maxMembersOf(reports);
  const mostMarkup = (maxMarkup * most) / maxMembers;
  let elements = 0;
  let depth = 0;
  let markup = 0;
  for (let index = text.indexOf('<'); index >= 0; ) {
    const end = endOfMarkup(text, index);
    if (typeof end === 'string') return { problem: end };
    if (!text.startsWith('<![CDATA[', index)) markup += end - index;
    if (text[index + 1] === '/') {
      depth--;
    } else if (text[index + 1] !== '?' && text[index + 1] !== '!') {
      if (text[end - 2] !== '/' && ++depth > maxDepth) return { problem: tooDeep };
    }
    if (++elements > 2 * most) return { problem: tooMany(most) };
    if (markup > mostMarkup) return { problem: `it has more than ${mostMarkup} characters of markup` };
    index = text.indexOf('<', end);
  }
  return occursMoreThan(text, '&', maxReferences)
    ? { problem: `it has more than ${maxReferences} references` }
    : {};
}

/** The index after a tag, comment, CDATA section or processing instruction, or what is wrong. */
function endOfMarkup(text: string, start: number): number | string {
  if (text.startsWith('<![CDATA[', start)) return indexAfter(text, ']]>', start + 9, text.length);
  if (text.startsWith('<!--', start)) return indexAfter(text, '-->', start + 4, start + maxTagLength);
  if (text.startsWith('<!', start)) return 'it has a document type';
  if (text.startsWith('<?', start)) return indexAfter(text, '?>', start + 2, start + maxTagLength);
  const last = Math.min(text.length, start + maxTagLength);
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
  return unterminated;
}

const unterminated = `a tag or comment in it does not end within ${maxTagLength} characters`;

/** @param last the index before which `end` must stand */
function indexAfter(text: string, end: string, from: number, last: number): number | string {
  const at = text.slice(from, last).indexOf(end);
  return at < 0 ? unterminated : from + at + end.length;
}

export function occursMoreThan(text: string, character: string, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
    if (++count > limit) return true;
  }
  return false;
}
