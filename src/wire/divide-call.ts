import { isObject } from './json.ts';

/** Reports of one call, where the account says that they stand in a list or inside a wrapper (`receiver.reportsIn`). */

/** All values of each lower-case name; names can repeat. */
export type DeliveryReportMembers = ReadonlyMap<string, readonly unknown[]>;

/** In one call. */
export const maxReports = 1_000;

/** Bytes of all calls into which one is divided: each repeats what stands around its report. */
const maxDividedBytes = 8 * 1024 * 1024;

export type DividedCall =
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
export function divideCall(content: unknown, path: readonly string[]): DividedCall {
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
