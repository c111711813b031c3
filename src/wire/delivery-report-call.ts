import { isUtf8 } from 'node:buffer';
import {
  checkJsonLimits,
  checkXmlLimits,
  maxMembers,
  occursMoreThan,
  tooManyMembers,
} from './delivery-report-limits.ts';
import { hasDuplicateKey, isObject, parseJson } from './json.ts';
import { decodeXml, parseXmlText } from './xml.ts';

export type DeliveryReportCall = {
  readonly method: 'GET' | 'POST';
  /** As the caller wrote it: often wrong, may be empty. */
  readonly contentType: string;
  /** The body, or the query string of a GET. */
  readonly body: Uint8Array;
};

/**
 * Reads the query string of a GET. The first byte of a POST decides between JSON, XML (any root element) and
 * form fields. Never throws; time is linear in the size of the body.
 *
 * @param reportsIn as in `DeliveryReportMapping`; form fields are always one report
 * @returns `several` only with `reportsIn`
 */
export function parseCall(
  { method, contentType, body }: DeliveryReportCall,
  reportsIn?: readonly string[],
): DividedCall {
  if (method === 'GET') return parseFormBody(body, 'query string');
  const content = body.subarray(contentStart(body));
  switch (content[0]) {
    case undefined:
      return unreadable('the body is empty');
    case 0x7b: // {
    case 0x5b: // [
      return parseJsonBody(content, reportsIn);
    case 0x3c: // <
      return parseXmlBody(content, reportsIn);
  }
  const isMultipart = /^\s*multipart\//i.test(contentType) || (content[0] === 0x2d && content[1] === 0x2d);
  if (isMultipart) return unreadable('the body is multipart, which delivery reports never are');
  return parseFormBody(content, 'body');
}

function unreadable(why: string): DividedCall {
  return { kind: 'unreadable', why };
}

/** Finds the index after a byte order mark and white space. */
function contentStart(body: Uint8Array): number {
  let index = 0;
  for (;;) {
    const byte = body[index];
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) index++;
    else if (byte === 0xef && body[index + 1] === 0xbb && body[index + 2] === 0xbf) index += 3;
    else return index;
  }
}

function parseJsonBody(body: Uint8Array, reportsIn?: readonly string[]): DividedCall {
  if (!isUtf8(body)) return unreadable('the JSON is not UTF-8');
  const { problem, topLevelNames } = checkJsonLimits(body, reportsIn ? maxReports : 1);
  if (problem !== undefined) return unreadable(problem);
  const content = parseJson(body);
  if (content === undefined) return unreadable('the JSON is not well-formed');
  if (reportsIn) {
    if (hasDuplicateKey(body, content)) return unreadable('the JSON repeats a name');
    return divideCall(content, reportsIn);
  }
  if (!isObject(content)) return unreadable('the JSON is not an object');
  const entries = Object.entries(content);
  // The parser silently keeps the last of equal names.
  if (entries.length !== topLevelNames) return unreadable('the JSON object repeats a name');
  return toMembers(entries);
}

function parseXmlBody(body: Uint8Array, reportsIn?: readonly string[]): DividedCall {
  const text = decodeXml(body);
  if (text === undefined) return unreadable('the XML is not in its declared encoding, or else not UTF-8');
  const { problem } = checkXmlLimits(text, reportsIn ? maxReports : 1);
  if (problem !== undefined) return unreadable(problem);
  const content = parseXmlText(text);
  if (content === undefined) return unreadable('the XML is not well-formed');
  if (!isObject(content)) return unreadable('the XML root contains no elements');
  return divideCall(content, reportsIn ?? []);
}

function parseFormBody(body: Uint8Array, what: 'body' | 'query string'): DividedCall {
  if (!isUtf8(body)) return unreadable(`the ${what} is not UTF-8`);
  // White space in values is encoded; the rest comes from tools that end their output with a line break.
  const text = new TextDecoder().decode(body).trim().replace(/^\?/, '');
  if (!text.includes('=')) return unreadable(`the ${what} is neither JSON nor XML nor form fields`);
  if (occursMoreThan(text, '&', maxMembers)) return unreadable(tooManyMembers);
  try {
    return toMembers(text.split('&').map(parseFormField));
  } catch {
    return unreadable(`the ${what} has invalid percent-encoding or encodes text that is not UTF-8`);
  }
}

/** @throws URIError for broken percent-encoding */
function parseFormField(field: string): readonly [name: string, value: string] {
  const equals = field.indexOf('=');
  const [name, value] = equals < 0 ? [field, ''] : [field.slice(0, equals), field.slice(equals + 1)];
  return [decodeFormText(name), decodeFormText(value)];
}

function decodeFormText(encoded: string): string {
  return decodeURIComponent(encoded.replace(/\+/g, ' '));
}

/** Reports of one call, where the account says that they stand in a list or inside a wrapper (`receiver.reportsIn`). */

/** All values of each lower-case name; names can repeat. */
export type DeliveryReportMembers = ReadonlyMap<string, readonly unknown[]>;

/** In one call. */
export const maxReports = 1_000;

/** Bytes of all calls into which one is divided: each repeats what stands around its report. */
const maxDividedBytes = 8 * 1024 * 1024;

type DividedCall =
  | { readonly kind: 'members'; readonly members: DeliveryReportMembers }
  /** JSON bodies, each of a call with one of the reports and all that stands around it. */
  | { readonly kind: 'several'; readonly bodies: readonly Buffer[] }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Finds the reports of a call. A call without the names, or with a single report, is read as one.
 *
 * @param content of a JSON body, or of the root element of an XML body
 * @param path names in any case, from the outside; empty: the call is a list
 */
function divideCall(content: unknown, path: readonly string[]): DividedCall {
  const bodies: Buffer[] = [];
  let only: unknown;
  let bytes = 0;
  for (const call of callsOf(content, path)) {
    only = call;
    const body = Buffer.from(JSON.stringify(call));
    bytes += body.byteLength;
    bodies.push(body);
    if (bodies.length > maxReports)
      return { kind: 'unreadable', why: `it has more than ${maxReports} reports` };
    if (bodies.length > 1 && bytes > maxDividedBytes)
      return { kind: 'unreadable', why: 'its reports have too much around them' };
  }
  if (bodies.length === 0) return { kind: 'unreadable', why: 'its list has no report' };
  return bodies.length === 1 ? readMembers(only, path) : { kind: 'several', bodies };
}

/** The content, once for each report, with no other report in it. One by one, because each is a copy. */
function* callsOf(content: unknown, path: readonly string[]): Generator<unknown, void, undefined> {
  if (Array.isArray(content)) {
    for (const entry of content) yield* callsOf(entry, path);
    return;
  }
  const [first, ...others] = path;
  const name = first === undefined ? undefined : findName(content, first);
  if (name === undefined || !isObject(content)) return void (yield content);
  for (const inner of callsOf(content[name], others)) yield { ...content, [name]: inner };
}

function findName(content: unknown, wanted: string): string | undefined {
  if (!isObject(content)) return undefined;
  return Object.keys(content).find((name) => name.toLowerCase() === wanted.toLowerCase());
}

/** Reads the members of the report, and of all that stands around it: a MessageID can stand there for all reports. */
function readMembers(content: unknown, path: readonly string[]): DividedCall {
  const entries: [name: string, value: unknown][] = [];
  let [level, names] = [content, path];
  for (;;) {
    if (!isObject(level)) return { kind: 'unreadable', why: 'a report in it is no object' };
    const [first, ...others] = names;
    const inner = first === undefined ? undefined : findName(level, first);
    for (const [name, value] of Object.entries(level)) {
      if (name !== inner) for (const each of [value].flat()) entries.push([name, each]);
    }
    if (inner === undefined) return toMembers(entries);
    [level, names] = [level[inner], others];
  }
}

export function toMembers(entries: Iterable<readonly [name: string, value: unknown]>): DividedCall {
  const members = new Map<string, unknown[]>();
  for (const [name, value] of entries) {
    const key = name.toLowerCase();
    const values = members.get(key);
    if (values) values.push(value);
    else members.set(key, [value]);
  }
  return { kind: 'members', members };
}
