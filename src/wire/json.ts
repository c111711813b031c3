/**
 * JSON from outside: nothing throws, and every value is checked before use. No function copies unknown keys
 * into an object, so `__proto__` stays an ordinary key.
 */

/** Drops a byte order mark, and keeps no state between bodies. */
const utf8 = new TextDecoder();

/** May also match inside a string. */
const numberStart = /(?:^|[:[,])\s*-?\d/;

export type JsonObject = { readonly [key: string]: unknown };

/**
 * Returns numbers as source text, so that money and identifiers never become binary fractions.
 *
 * @returns undefined when the bytes are not JSON
 */
export function parseJson(body: Uint8Array): unknown {
  try {
    const text = utf8.decode(body);
    const parsed: unknown = JSON.parse(text);
    // A reviver triples the time, and most bodies have no number.
    return numberStart.test(text) && hasNumber(parsed) ? JSON.parse(text, numberAsText) : parsed;
  } catch {
    return undefined;
  }
}

/** Parses with numbers as numbers, to check types; undefined when the bytes are not JSON. */
export function parseTypedJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

/** A string literal, with the colon that makes it a key. One without an end is read once, to the end of the text. */
const stringLiterals = /"(?:[^"\\]|\\.)*(?:"(?:\s*:)?)?/g;

/** At any depth; `JSON.parse` silently keeps the last of equal keys. */
export function hasDuplicateKey(body: Uint8Array, parsed: unknown): boolean {
  const text = utf8.decode(body);
  let keysWritten = 0;
  // The regular expression resets its index at the end of the text.
  while (stringLiterals.test(text)) if (text[stringLiterals.lastIndex - 1] === ':') keysWritten++;
  return keysWritten > countKeys(parsed);
}

/** Uses its own stack, because the body may nest deeper than calls can. */
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

export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Text, numbers and booleans as text; else undefined. */
export function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

export function isBlank(value: string | undefined): boolean {
  return value === undefined || value.trim() === '';
}
