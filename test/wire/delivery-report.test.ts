import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import { type DeliveryReportToWrite, encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';
import { unitsOf, utcTime } from '../../src/wire/report-values.ts';
import { parseMembers } from '../../src/wire/xml.ts';
import { carriableText } from '../support/messages.ts';

const decode = (members: unknown) =>
  decodeDeliveryReport(Buffer.from(typeof members === 'string' ? members : JSON.stringify(members)));

const seen = {
  Version: 'v2.02',
  Sender: 'a@b.example',
  APIKey: 'secret',
  Type: 'SMS',
  Destination: '+64211234567',
  ContactID: null,
  ReceivedID: null,
  MessageID: 'V1',
  SubAccount: 'North',
  Department: '',
  JobNumber: '10C7B9A0',
  SentTimeUTC: '2025-06-12 20:44:16',
  Status: 'SUCCESS',
  Result: 'delivered',
  Message: null,
  Price: '0.20',
  Detail: 'SMSParts:2',
};

function report(changes: Record<string, unknown> = {}) {
  const decoded = decode({ ...seen, ...changes });
  if (decoded.kind !== 'report') throw new Error(`expected a report, got ${JSON.stringify(decoded)}`);
  return decoded.report;
}

describe('a delivery report', () => {
  test('is read with the members of observed.md', () => {
    expect(report()).toMatchObject({
      messageId: 'V1',
      destination: '+64211234567',
      type: 'SMS',
      outcome: 'delivered',
      status: 'SUCCESS',
      result: 'delivered',
      subAccount: 'North',
      jobNumber: '10C7B9A0',
      sentTimeUtc: '2025-06-12T20:44:16.000Z',
      price: '0.20',
      units: { SMSParts: 2 },
    });
    expect(report()).not.toHaveProperty('department');
  });

  test('is kept without the key of the API user', () => {
    expect(JSON.stringify(report())).not.toContain('secret');
  });

  test.each([
    ['Success', 'delivered'],
    ['failed', 'undelivered'],
    ['PENDING', 'pending'],
    ['Delayed', 'unrecognised'],
    ['constructor', 'unrecognised'],
  ])('with status %s is %s', (Status, outcome) => {
    expect(report({ Status })).toMatchObject({ status: Status, outcome });
  });

  test('takes other status words when it is given them', () => {
    const body = Buffer.from(JSON.stringify({ ...seen, Status: 'Bounced' }));
    const decoded = decodeDeliveryReport(body, { bounced: 'undelivered' });
    expect(decoded).toMatchObject({ kind: 'report', report: { outcome: 'undelivered' } });
  });

  test.each([
    ['"1.10"', '1.10'],
    ['1.10', '1.10'],
    ['0.1000000000000000055', undefined],
    ['-0.5', '-0.5'],
    ['1e3', undefined],
    ['"1,10"', undefined],
    ['"NaN"', undefined],
    ['true', undefined],
    ['{"a":1}', undefined],
    ['"99999999999999999999"', undefined],
  ])('with price %s has price %s: decimal text or none', (Price, expected) => {
    const body = JSON.stringify({ ...seen, Price: 'PRICE' }).replace('"PRICE"', Price);
    const decoded = decode(body);
    expect(decoded.kind === 'report' && decoded.report.price).toBe(expected ?? (undefined as unknown));
  });

  test.each([
    ['SMSParts:3,VoiceSeconds: 40', { SMSParts: 3, VoiceSeconds: 40 }],
    ['FaxPages:2;EmailSize:100\r\nVoiceRemoteID:abc:d', { FaxPages: 2, EmailSize: 100 }],
    [
      { SMSParts: 2, FaxPages: '3', Other: [] },
      { SMSParts: 2, FaxPages: 3 },
    ],
    ['SMSParts:-1,FaxPages:99999999999,EmailSize:1.5', {}],
    ['nothing', {}],
    [null, {}],
    [['SMSParts:1'], {}],
  ])('with detail %j has units %j', (Detail, units) => {
    expect(report({ Detail }).units).toEqual(units);
  });

  test('prefers the time with its zone, takes either name of the other, and drops what is no time', () => {
    expect(report({ SentTimeUTC_RFC3339: '2025-06-12T20:44:16.123Z' }).sentTimeUtc).toBe(
      '2025-06-12T20:44:16.123Z',
    );
    const { SentTimeUTC: _, ...without } = seen;
    expect(decode({ ...without, SendTimeUTC: '2025-06-12 20:44:16' })).toMatchObject({
      report: { sentTimeUtc: '2025-06-12T20:44:16.000Z' },
    });
    expect(report({ SentTimeUTC: '2025-13-45 99:00:00' })).not.toHaveProperty('sentTimeUtc');
  });

  test('has no NUL, which Postgres could not keep', () => {
    expect(report({ Result: 'a\0b', SubAccount: '\0' })).toMatchObject({ result: 'ab', subAccount: '' });
  });

  test.each([
    ['{', 'the body is neither a JSON object nor XML'],
    ['[]', 'the body is neither a JSON object nor XML'],
    ['', 'the body is neither a JSON object nor XML'],
    [{ ...seen, Type: null }, 'it has no Type'],
    [{ ...seen, Destination: {} }, 'it has no Destination'],
    [{ ...seen, MessageID: '' }, 'it has no MessageID'],
    [{ ...seen, Status: [] }, 'it has no Status'],
  ])('%j is unreadable: %s', (members, why) => {
    expect(decode(members)).toEqual({ kind: 'unreadable', why });
  });

  test('in XML says the same as in JSON, with every value as it was written', () => {
    const elements = Object.entries(seen)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `<${name}>${value}</${name}>`);
    const xml = `<?xml version="1.0"?>\n<DeliveryReport>${elements.join('')}</DeliveryReport>`;
    expect(decode(xml)).toEqual(decode(JSON.stringify(seen)));
    expect(decode(xml.replace(/<Price>.*<\/Price>/, '<Price>0.0800</Price>'))).toMatchObject({
      report: { price: '0.0800' },
    });
  });

  test.each([
    '<a>',
    '<a></b>',
    '<!DOCTYPE a [<!ENTITY x "y">]><a><Type>&x;</Type></a>',
    '<a>text</a>',
    '<a/>',
  ])('in XML that is broken, has a document type or holds nothing is unreadable: %s', (xml) => {
    expect(decode(xml).kind).toBe('unreadable');
  });

  test('never throws and never touches a prototype', () => {
    const hostile = decode(
      `{"__proto__":{"x":"1"},${JSON.stringify({ ...seen, Detail: '__proto__:1,constructor:2' }).slice(1)}`,
    );
    expect(hostile).toMatchObject({ kind: 'report', report: { units: {} } });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    const members = Object.keys(seen).map((name) => [name, fc.jsonValue()] as const);
    fc.assert(
      fc.property(fc.record(Object.fromEntries(members), { requiredKeys: [] }), (value) => {
        expect(['report', 'inbound', 'unreadable']).toContain(decode(value).kind);
      }),
    );
  });
});

test('a message that came in is told apart from a report, matched or not', () => {
  const inbound = { ...seen, Status: 'RECEIVED', Message: 'STOP', ReceivedID: 'R1' };
  expect(decode({ ...inbound, Type: 'SMSReply' })).toMatchObject({
    kind: 'inbound',
    message: {
      type: 'SMSReply',
      messageId: 'V1',
      destination: '+64211234567',
      text: 'STOP',
      receivedId: 'R1',
    },
  });
  const unmatched = decode({ ...inbound, Type: 'smsinbound', MessageID: null });
  expect(unmatched).toMatchObject({ kind: 'inbound', message: { type: 'SMSInbound' } });
});

describe.each(['json', 'xml'] as const)('a report written in %s', (format) => {
  const written = (text: fc.Arbitrary<string>) =>
    fc.record({
      version: fc.constantFrom('v2.02', 'v1.04'),
      messageId: text,
      destination: text,
      type: fc.constantFrom('SMS', 'Email', 'Fax', 'Voice'),
      status: fc.constantFrom('Success', 'Failed', 'Pending'),
      result: text,
      subAccount: text,
      department: text,
      jobNumber: text,
      sentTimeUtc: fc
        .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      price: fc.nat().map((cents) => (cents / 100).toFixed(2)),
      units: fc
        .record({ SMSParts: fc.nat(), VoiceSeconds: fc.nat() }, { requiredKeys: [] })
        .map((units) => ({ ...units })),
      url: text,
    });
  const sample: DeliveryReportToWrite = {
    version: 'v1.04',
    messageId: 'V1',
    destination: '+64211234567',
    type: 'SMS',
    status: 'Success',
    result: 'delivered',
    units: {},
    url: 'http://127.0.0.1/',
  };

  test('is read back as it was, whatever its texts hold', () => {
    // In a report, white space around a value and U+0000 are not meant: the reader takes them away.
    const text = carriableText(format).filter(
      (value) => value !== '' && !value.includes('\0') && (format === 'json' || value === value.trim()),
    );
    fc.assert(
      fc.property(written(text), (one) => {
        const { url: _url, version: _version, ...expected } = one;
        const decoded = decodeDeliveryReport(Buffer.from(encodeDeliveryReport(one, format).body));
        expect(decoded).toMatchObject({
          kind: 'report',
          report: expected,
        });
      }),
    );
  });

  test('has all members of observed.md but the credentials, also those it has no value for', () => {
    const { headers, body } = encodeDeliveryReport(sample, format);
    const members = format === 'json' ? JSON.parse(body) : parseMembers(Buffer.from(body));
    const nothing = format === 'json' ? null : '';
    expect(members).toEqual({
      Version: 'v1.04',
      Type: 'SMS',
      Destination: '+64211234567',
      ContactID: nothing,
      ReceivedID: nothing,
      MessageID: 'V1',
      SubAccount: nothing,
      Department: nothing,
      JobNumber: nothing,
      SentTimeLocal: nothing,
      SentTimeUTC: nothing,
      SentTimeUTC_RFC3339: nothing,
      Status: 'Success',
      Result: 'delivered',
      Message: nothing,
      Price: nothing,
      Detail: '',
      URL: 'http://127.0.0.1/',
    });
    expect(headers['Content-Type']).toMatch(format);
  });

  test('is written of any text at all', () => {
    fc.assert(
      fc.property(written(fc.string({ unit: 'binary' })), (one) => {
        const decoded = decodeDeliveryReport(Buffer.from(encodeDeliveryReport(one, format).body));
        expect(['report', 'unreadable']).toContain(decoded.kind);
      }),
    );
    const hostile = { ...sample, subAccount: 'a\u0007b\ud800' };
    const decoded = decodeDeliveryReport(Buffer.from(encodeDeliveryReport(hostile, format).body));
    expect(decoded).toMatchObject({
      report: { subAccount: format === 'json' ? 'a\u0007b\ud800' : 'a?b\ufffd' },
    });
  });
});

test('units are counts that a database can hold', () => {
  expect(
    unitsOf([
      ['SMSParts', '2147483647'],
      ['FaxPages', '2147483648'],
    ]),
  ).toEqual({ SMSParts: 2_147_483_647 });
});

test('a time with another zone is turned into UTC', () => {
  expect(utcTime('2025-06-12T20:44:16+12:00')).toBe('2025-06-12T08:44:16.000Z');
  expect(utcTime(undefined)).toBeUndefined();
});
