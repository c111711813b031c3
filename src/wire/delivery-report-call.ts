import { isUtf8 } from 'node:buffer';
import {
  checkJsonLimits,
  checkXmlLimits,
  maxMembers,
  occursMoreThan,
  tooManyMembers,
} from './delivery-report-limits.ts';
import { type DividedCall, divideCall, maxReports, toMembers } from './divide-call.ts';
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
