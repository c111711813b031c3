/**
 * JSON from outside: nothing throws, every value is looked at before it is used. `JSON.parse` makes `__proto__` an
 * ordinary own key, and no function here copies a key it was not asked for into an existing object.
 */

/** One that drops a byte order mark and repairs nothing it has seen before: it keeps no state between two bodies. */
const utf8 = new TextDecoder();

/** Where a number may begin; within a text it may look the same. */
const numberStart = /(?:^|[:[,])\s*-?\d/;

export type JsonObject = { readonly [key: string]: unknown };

/**
 * Numbers are returned as the text they were written in, for money and identifiers must not pass through binary
 * fractions: `1.10` stays `1.10`.
 *
 * @returns undefined when the bytes are not JSON
 */
export function parseJson(body: Uint8Array): unknown {
  try {
    const text = utf8.decode(body);
    const parsed: unknown = JSON.parse(text);
    // A reviver costs three times as much as all the rest, and most answers and reports have no number.
    return numberStart.test(text) && hasNumber(parsed) ? JSON.parse(text, numberAsText) : parsed;
  } catch {
    return undefined;
  }
}

/** A text, and the colon behind it that makes it a key. */
const stringLiterals = /"(?:[^"\\]|\\.)*"(?:\s*:)?/g;

/**
 * Whether an object, at any depth, has the same key twice; `JSON.parse` keeps the last without a word.
 *
 * @param body JSON
 * @param parsed what it was parsed to
 */
export function hasDuplicateKey(body: Uint8Array, parsed: unknown): boolean {
  const text = utf8.decode(body);
  let keysWritten = 0;
  // Ends at the end of the text, where the expression begins anew.
  while (stringLiterals.test(text)) if (text[stringLiterals.lastIndex - 1] === ':') keysWritten++;
  return keysWritten > countKeys(parsed);
}

/** At all depths; a stack of its own, for the body may be nested deeper than calls may be. */
function countKeys(parsed: unknown): number {
  let keys = 0;
  const stack: unknown[] = [parsed];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value !== 'object' || value === null) continue;
    const values: unknown[] = Object.values(value);
    if (!Array.isArray(value)) keys += values.length;
    for (const each of values) stack.push(each);
  }
  return keys;
}

function hasNumber(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  return Object.values(value).some(hasNumber);
}

function numberAsText(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' ? (context?.source ?? String(value)) : value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The member's value, or undefined where the object does not have it as its own. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A text, number or boolean as text; anything else is undefined. */
export function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function isBlank(value: string | undefined): boolean {
  return value === undefined || value.trim() === '';
}
