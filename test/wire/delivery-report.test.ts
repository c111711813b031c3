import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import { type DeliveryReportMapping, observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { billedUnits, channelsOfType, parseUtcTime, unitsOf } from '../../src/wire/delivery-report-values.ts';
import { postCall } from '../support/delivery-report-calls.ts';

const decode = (members: unknown, mapping?: DeliveryReportMapping) =>
  decodeDeliveryReport(postCall(typeof members === 'string' ? members : JSON.stringify(members)), mapping);

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

describe('decodeDeliveryReport', () => {
  test('a report is read with the observed members', () => {
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
    expect(report().department).toBeUndefined();
  });

  test('a report does not contain the key of the API user', () => {
    expect(JSON.stringify(report())).not.toContain('secret');
  });

  test.each([
    ['Success', 'delivered'],
    ['failed', 'undelivered'],
    ['PENDING', 'pending'],
    ['Delayed', 'unrecognised'],
    ['constructor', 'unrecognised'],
  ])('a report with status %s is %s', (Status, outcome) => {
    expect(report({ Status })).toMatchObject({ status: Status, outcome });
  });

  test('status words of the mapping replace the defaults', () => {
    const mapping = { ...observedMapping, statusWords: { bounced: 'undelivered' } } as const;
    const decoded = decode({ ...seen, Status: 'Bounced' }, mapping);
    expect(decoded).toMatchObject({ kind: 'report', report: { outcome: 'undelivered' } });
  });

  test('a negative price is read only if credits are allowed', () => {
    expect(report({ Price: '-0.50' }).unread).toMatch(/Price -0.50 is a credit/);
    const decoded = decode({ ...seen, Price: '-0.50' }, { ...observedMapping, credits: 'allowed' });
    expect(decoded).toMatchObject({ report: { price: '-0.50' } });
    expect(decoded).not.toHaveProperty('report.unread');
  });

  test.each([
    ['"1.10"', '1.10'],
    ['1.10', '1.10'],
    ['0.1000000000000000055', undefined],
    ['-0.5', undefined],
    ['-0.00', '-0.00'],
    ['1e3', undefined],
    ['"1,10"', undefined],
    ['"NaN"', undefined],
    ['true', undefined],
    ['{"a":1}', undefined],
    ['"99999999999999999999"', undefined],
  ])('a price of %s is read as %s', (Price, expected) => {
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
  ])('the detail %j is read as the units %j', (Detail, units) => {
    expect(report({ Detail }).units).toEqual(units);
  });

  test('the time with a zone is preferred, either name of the other one is read, and invalid times are dropped', () => {
    expect(report({ SentTimeUTC_RFC3339: '2025-06-12T20:44:16.123Z' }).sentTimeUtc).toBe(
      '2025-06-12T20:44:16.123Z',
    );
    const { SentTimeUTC: _, ...without } = seen;
    expect(decode({ ...without, SendTimeUTC: '2025-06-12 20:44:16' })).toMatchObject({
      report: { sentTimeUtc: '2025-06-12T20:44:16.000Z' },
    });
    expect(report({ SentTimeUTC: '2025-13-45 99:00:00' }).sentTimeUtc).toBeUndefined();
  });

  test('a MessageID, an address and a SubAccount may be as long as the interface allows', () => {
    const longest = {
      MessageID: 'x'.repeat(40),
      Destination: `${'a'.repeat(64)}@${'b'.repeat(255)}`,
      SubAccount: '🙂'.repeat(40),
    };
    expect(report({ ...longest, SentTimeUTC_RFC3339: '2100-12-31T23:59:59Z' })).toMatchObject({
      messageId: longest.MessageID,
      destination: longest.Destination,
      subAccount: longest.SubAccount,
    });
  });

  test.each([
    ['{', 'the JSON is not well-formed'],
    ['[]', 'the JSON is not an object'],
    ['', 'the body is empty'],
    ['hello', 'the body is neither JSON nor XML nor form fields'],
    [{ ...seen, Type: null }, 'it has no Type'],
    [{ ...seen, Destination: {} }, 'it has no Destination'],
    [{ ...seen, MessageID: '', JobNumber: null }, 'it has no MessageID'],
    [{ ...seen, Status: [] }, 'it has no Status'],
    [{ ...seen, MessageID: 'x'.repeat(41) }, 'its MessageID is too long'],
    [{ ...seen, JobNumber: 'é'.repeat(21) }, 'its JobNumber is too long'],
    [{ ...seen, Destination: '漢'.repeat(107) }, 'its Destination is too long'],
    [{ ...seen, SubAccount: '🙂'.repeat(41) }, 'its SubAccount is too long'],
    [{ ...seen, Type: 'x'.repeat(501) }, 'its Type is too long'],
    ...[
      '0000-01-01T00:00:00Z',
      // The minimum date of .NET, in New Zealand.
      '0001-01-01T00:00:00+13:00',
      '9999-12-31T23:59:59-13:00',
      '1969-12-31T23:59:59Z',
      '2101-01-01T00:00:00Z',
    ].map((time): [object, string] => [
      { ...seen, SentTimeUTC_RFC3339: time },
      'its SentTimeUTC is not between the years 1970 and 2100',
    ]),
  ])('%j is unreadable: %s', (members, why) => {
    expect(decode(members)).toEqual({ kind: 'unreadable', why });
  });

  test.each([
    ['Success', 'Control Deleted', 'undelivered'],
    ['Pending', ' CONTROL deleted', 'undelivered'],
    ['Delayed', 'Control Deleted', 'undelivered'],
    ['Success', 'Control Deleted later', 'delivered'],
    ['Success', 'constructor', 'delivered'],
  ])(
    'a report with status %s and result %s is %s, because a whole result takes precedence',
    (Status, Result, outcome) => {
      expect(report({ Status, Result })).toMatchObject({ outcome });
    },
  );

  test('results of the mapping replace the defaults', () => {
    const mapping = { ...observedMapping, resultWords: { 'bad number': 'pending' } } as const;
    expect(decode({ ...seen, Result: 'Bad Number' }, mapping)).toMatchObject({
      report: { outcome: 'pending' },
    });
    expect(decode({ ...seen, Result: 'Control Deleted' }, mapping)).toMatchObject({
      report: { outcome: 'delivered' },
    });
  });

  test('an opt-out is recognised by the whole result', () => {
    expect(report({ Result: 'destination is BLACKLISTED' })).toMatchObject({ optedOut: true });
    expect(report({ Result: 'Destination is blacklisted?' })).toMatchObject({ optedOut: false });
    const mapping = { ...observedMapping, optOutResults: ['no permit record'] };
    expect(decode({ ...seen, Result: 'No Permit Record' }, mapping)).toMatchObject({
      report: { optedOut: true },
    });
  });

  test.each(['0,08', '$0.08', '1e3', '0.123456789'])('a price of %s is named as unreadable', (Price) => {
    const read = report({ Price });
    expect(read).toMatchObject({ outcome: 'delivered', unread: `its Price "${Price}" is no decimal number` });
    expect(read).not.toHaveProperty('price');
  });

  test.each(['', ' ', null, '0.08'])('a price of %j is not named as unreadable', (Price) => {
    expect(report({ Price })).not.toHaveProperty('unread');
  });

  test.each(['', null, undefined])(
    'a report with the MessageID %j is read by its job number',
    (MessageID) => {
      const read = report({ MessageID });
      expect(read).toMatchObject({ jobNumber: '10C7B9A0', outcome: 'delivered' });
      expect(read.messageId).toBeUndefined();
    },
  );

  test('fields are found under the names of the mapping, in their order and in any case', () => {
    const fields = { ...observedMapping.fields, MessageID: ['reference', 'id'], Status: ['state'] };
    const mapping = { ...observedMapping, fields };
    const { MessageID: _, Status: __, ...rest } = seen;
    expect(decode({ ...rest, ID: 'V2', STATE: 'failed' }, mapping)).toMatchObject({
      report: { messageId: 'V2', outcome: 'undelivered' },
    });
    expect(decode({ ...rest, ID: 'V2', Reference: 'V3', State: 'failed' }, mapping)).toMatchObject({
      report: { messageId: 'V3' },
    });
    expect(decode({ ...seen, JobNumber: null }, mapping)).toMatchObject({ why: 'it has no MessageID' });
  });

  test('XML is read like JSON, with every value as it was written', () => {
    const elements = Object.entries(seen)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `<${name}>${value}</${name}>`);
    const xml = `<?xml version="1.0"?>\n<DeliveryReport>${elements.join('')}</DeliveryReport>`;
    expect(decode(xml)).toEqual(decode(JSON.stringify(seen)));
    expect(decode(xml.replace(/<Price>.*<\/Price>/, '<Price>0.0800</Price>'))).toMatchObject({
      report: { price: '0.0800' },
    });
  });

  test('no value throws', () => {
    const members = Object.keys(seen).map((name) => [name, fc.jsonValue()] as const);
    fc.assert(
      fc.property(fc.record(Object.fromEntries(members), { requiredKeys: [] }), (value) => {
        expect(['report', 'inbound', 'unreadable']).toContain(decode(value).kind);
      }),
    );
  });
});

test('a received message is distinguished from a report, whether it was matched or not', () => {
  const inbound = { ...seen, Status: 'RECEIVED', Message: 'STOP', ReceivedID: 'R1' };
  expect(decode({ ...inbound, Type: 'SMSReply' })).toMatchObject({
    kind: 'inbound',
    message: {
      type: 'SMSReply',
      messageId: 'V1',
      from: '+64211234567',
      text: 'STOP',
      receivedId: 'R1',
      subAccount: 'North',
      jobNumber: '10C7B9A0',
      sentTimeUtc: '2025-06-12T20:44:16.000Z',
    },
  });
  const unmatched = decode({ ...inbound, Type: 'smsinbound', MessageID: null });
  expect(unmatched).toMatchObject({ kind: 'inbound', message: { type: 'SMSInbound' } });
});

test('units are counts that a database integer can hold', () => {
  expect(
    unitsOf([
      ['SMSParts', '2147483647'],
      ['FaxPages', '2147483648'],
    ]),
  ).toEqual({ SMSParts: 2_147_483_647 });
});

test('a unit is recognised in any case, and a repeated one with different counts is ignored', () => {
  expect(unitsOf([['smsparts', '2']])).toEqual({ SMSParts: 2 });
  expect(
    unitsOf([
      ['SMSParts', '2'],
      ['SMSParts', '3'],
      ['FaxPages', '1'],
      ['FaxPages', '1'],
    ]),
  ).toEqual({ FaxPages: 1 });
});

test.each([
  ['SMS', '2'],
  ['fax', '3'],
  ['Voice', '40'],
  ['EMAIL', '1'],
  ['Pigeon', null],
])('a report of type %s is invoiced as %s', (type, billed) => {
  const units = { SMSParts: 2, FaxPages: 3, VoiceSeconds: 40, EmailSize: 1000 };
  expect(billedUnits({ type, units })).toBe(billed);
});

test('units that a report does not contain are not invented', () => {
  expect(billedUnits({ type: 'SMS', units: { FaxPages: 3 } })).toBeNull();
});

test('a report type can belong to one channel or to several', () => {
  expect(['SMS', 'email', 'Fax', 'VOICE', 'toString'].map(channelsOfType)).toEqual([
    ['sms'],
    ['email'],
    ['fax'],
    ['voice', 'tts'],
    [],
  ]);
});

test('a time in another zone is converted to UTC', () => {
  expect(parseUtcTime('2025-06-12T20:44:16+12:00')).toBe('2025-06-12T08:44:16.000Z');
  expect(parseUtcTime(undefined)).toBeUndefined();
});
