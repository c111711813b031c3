import { XMLBuilder, XMLParser } from 'fast-xml-parser';
import type { Destination, Format, InterfaceName, SendRequest } from '../../src/domain/message.ts';
import { wireInterface } from '../../src/wire/interfaces.ts';
import { xmlBuilderOptions } from '../../src/wire/xml.ts';
import { credentialsFor } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';
import { printTable } from './printing.ts';
import { measure, type Rates } from './rounds.ts';

/**
 * Measures bodies per second, from a request of the ledger to its bytes. The peers are `JSON.stringify` of the same
 * object and fast-xml-parser with the same tree, from prepared objects to text.
 */
export async function benchWire(): Promise<void> {
  const rows: string[][] = [];
  for (const recipients of [1, 200, 1000]) {
    const bodies = interfaces.map(([name, format]) => bodyOf(name, format, recipients));
    const rates = await measure(tasksFor(bodies));
    rows.push(...bodies.map((body) => rowOf(body, recipients, rates)));
  }
  printTable(
    'wire: one request into its bytes, against its peer in the same run (median of 7 rounds)',
    ['interface', 'recipients', 'bytes', 'bodies/s', 'of JSON.stringify', 'of fast-xml-parser', 'aim'],
    rows,
  );
}

const interfaces: readonly (readonly [InterfaceName, Format])[] = [
  ['rest-2.02', 'json'],
  ['rest-2.02', 'xml'],
  ['rest-1.04', 'json'],
  ['rest-1.04', 'xml'],
  ['soap-tts', 'xml'],
];

type Body = {
  readonly title: string;
  readonly encode: () => string;
  readonly bytes: number;
  /** Input of JSON.stringify: the JSON body's object, or the XML tree. */
  readonly object: unknown;
  /** Input of fast-xml-parser; undefined for JSON. */
  readonly tree?: unknown;
};

function bodyOf(name: InterfaceName, format: Format, recipients: number): Body {
  const wire = wireInterface(name, format);
  const request = outgoing(requestOf(name, recipients));
  const credentials = credentialsFor(name);
  const encode = (): string => wire.encodeSendRequest(request, credentials).body;
  const text = encode();
  const title = `${name} ${name === 'soap-tts' ? 'soap' : format}`;
  if (format === 'json') return { title, encode, bytes: Buffer.byteLength(text), object: JSON.parse(text) };
  const tree: unknown = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
  }).parse(text);
  return { title, encode, bytes: Buffer.byteLength(text), object: tree, tree };
}

/** An SMS or a text-to-speech call with fields for each recipient. */
function requestOf(name: InterfaceName, recipients: number): SendRequest {
  const destinations = Array.from({ length: recipients }, (_, index): Destination => {
    const recipient = { Recipient: `+6421${String(1_000_000 + index)}` };
    // In SOAP, plain numbers are a list; other fields would need a file.
    if (name === 'soap-tts') return recipient;
    const names =
      name === 'rest-2.02'
        ? { 'First Name': `Ana ${index}`, 'Last Name': 'O’Brien & Søn' }
        : { Attention: `Ana ${index}` };
    return { ...recipient, ...names, Company: 'Example Energy Pty Ltd', Custom1: `Suburb ${index % 97}` };
  });
  const shared = { Reference: 'outage', ChargeCode: 'NET-2000' };
  const text = 'Hi [[First Name]], power is off in [[Custom1]] tonight from 22:00 to 04:00. [[STOP]]';
  return {
    channel: name === 'soap-tts' ? 'tts' : 'sms',
    messageId: '0123456789abcdef0123456789abcdef0123',
    fields:
      name === 'soap-tts'
        ? { ...shared, MessageToPeople: text }
        : { ...shared, SubAccount: 'NSW', Message: text },
    destinations,
    files: [],
    keypads: [],
  };
}

function tasksFor(bodies: readonly Body[]): Record<string, () => unknown> {
  const builder = new XMLBuilder({ ...xmlBuilderOptions, ignoreAttributes: false, attributeNamePrefix: '@' });
  const plainBuilder = new XMLBuilder(xmlBuilderOptions);
  const tasks: Record<string, () => unknown> = {};
  for (const { title, encode, object, tree } of bodies) {
    const build = title === 'soap-tts soap' ? builder : plainBuilder;
    tasks[title] = encode;
    tasks[`${title}, stringify`] = () => JSON.stringify(object);
    if (tree !== undefined) tasks[`${title}, fast-xml-parser`] = () => build.build(tree);
  }
  return tasks;
}

function rowOf({ title, bytes, tree }: Body, recipients: number, rates: Rates): string[] {
  const rate = rates.get(title) ?? Number.NaN;
  const of = (peer: string): string => (rate / (rates.get(`${title}, ${peer}`) ?? Number.NaN)).toFixed(2);
  return [
    title,
    String(recipients),
    String(bytes),
    Math.round(rate).toLocaleString('en'),
    of('stringify'),
    tree === undefined ? '' : of('fast-xml-parser'),
    tree === undefined ? 'JSON.stringify × 0.9' : 'fast-xml-parser × 0.85',
  ];
}
