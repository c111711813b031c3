/**
 * Limits of structure that no delivery report has. Anyone who knows the receiver's address can send anything, and
 * parsers spend time and memory on it. A real one has about 20 members in two levels. JSON is checked in one pass before
 * it is parsed, XML while it is (`xml.ts`).
 */

/** Members, list items, elements and attributes of a report, over all levels. */
export const maxMembers = 500;
/** The same of a call that may have several reports. */
const maxMembersOfSeveral = 20_000;
const maxDepth = 32;
/** References such as `&amp;` and `&#65;`. */
export const maxReferences = 10_000;

type LimitCheck = {
  /** Why the body must not be parsed; undefined when it may be. */
  readonly problem?: string;
};

const tooMany = (most: number): string => `it has more than ${most} members`;
export const tooManyMembers = tooMany(maxMembers);
export const maxMembersOf = (reports: number): number => (reports > 1 ? maxMembersOfSeveral : maxMembers);
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

export function occursMoreThan(text: string, character: string, limit: number): boolean {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
    if (++count > limit) return true;
  }
  return false;
}
