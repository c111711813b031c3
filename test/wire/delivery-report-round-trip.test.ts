import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deliveryReportFormats } from '../../src/domain/delivery-reports.ts';
import { decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import type { DeliveryReportCall } from '../../src/wire/delivery-report-call.ts';
import { maxBytes } from '../../src/wire/delivery-report-text.ts';
import {
  type EncodedDeliveryReport,
  encodeDeliveryReport,
  type OutgoingDeliveryReport,
} from '../../src/wire/encode-delivery-report.ts';
import { parseMembers } from '../../src/wire/xml.ts';
import { anyCharacter } from '../support/any-character.ts';
import { carriableText } from '../support/messages.ts';

/** Volley reads what the sandbox writes. */

const callOf = ({ method, headers, body }: EncodedDeliveryReport): DeliveryReportCall => ({
  method,
  contentType: headers['Content-Type'] ?? '',
  body: Buffer.from(body),
});

const form = (body: string): unknown => Object.fromEntries(new URLSearchParams(body));
const parsed = {
  json: (body: string): unknown => JSON.parse(body),
  xml: (body: string): unknown => parseMembers(Buffer.from(body)),
  post: form,
  get: form,
};
const contentTypes = {
  json: 'application/json',
  xml: 'application/xml; charset=utf-8',
  post: 'application/x-www-form-urlencoded',
  get: undefined,
};

function within(text: fc.Arbitrary<string>, field: keyof typeof maxBytes): fc.Arbitrary<string> {
  return text.filter((value) => Buffer.byteLength(value) <= maxBytes[field]);
}

describe.each(deliveryReportFormats)('encodeDeliveryReport in %s', (format) => {
  const written = (text: fc.Arbitrary<string>) =>
    fc.record({
      version: fc.constantFrom('v2.02', 'v1.04'),
      messageId: within(text, 'MessageID'),
      destination: within(text, 'Destination'),
      type: fc.constantFrom('SMS', 'Email', 'Fax', 'Voice'),
      status: fc.constantFrom('Success', 'Failed', 'Pending'),
      result: text,
      subAccount: within(text, 'SubAccount'),
      department: text,
      jobNumber: within(text, 'JobNumber'),
      sentTimeUtc: fc
        .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      price: fc.nat().map((cents) => (cents / 100).toFixed(2)),
      units: fc
        .record({ SMSParts: fc.nat(), VoiceSeconds: fc.nat() }, { requiredKeys: [] })
        .map((units) => ({ ...units })),
      url: text,
    });
  const carrier = format === 'xml' ? 'xml' : 'json';
  const sample: OutgoingDeliveryReport = {
    version: 'v1.04',
    messageId: 'V1',
    destination: '+64211234567',
    type: 'SMS',
    status: 'Success',
    result: 'delivered',
    units: {},
    url: 'http://127.0.0.1/',
  };

  test('a report with any texts is read back unchanged', () => {
    // The reader removes U+0000, and in XML outer white space. A blank before a number is an unencoded plus
    // sign.
    const text = carriableText(carrier).filter(
      (value) =>
        value !== '' &&
        !value.includes('\0') &&
        !/^ +\d{7,15} *$/.test(value) &&
        (format !== 'xml' || value === value.trim()),
    );
    fc.assert(
      fc.property(written(text), (one) => {
        const { url: _url, version: _version, ...expected } = one;
        expect(decodeDeliveryReport(callOf(encodeDeliveryReport(one, format)))).toMatchObject({
          kind: 'report',
          report: expected,
        });
      }),
    );
  });

  test('a report has all observed members except the credentials, even those without a value', () => {
    const { headers, body } = encodeDeliveryReport(sample, format);
    const members = parsed[format](body);
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
    expect(headers['Content-Type']).toBe(contentTypes[format]);
  });

  test('a report with any characters can be written', () => {
    fc.assert(
      fc.property(written(fc.string({ unit: anyCharacter })), (one) => {
        const decoded = decodeDeliveryReport(callOf(encodeDeliveryReport(one, format)));
        expect(['report', 'unreadable']).toContain(decoded.kind);
      }),
    );
    const hostile = { ...sample, subAccount: 'a\u0007b\ud800' };
    const decoded = decodeDeliveryReport(callOf(encodeDeliveryReport(hostile, format)));
    expect(decoded).toMatchObject({
      report: { subAccount: format === 'xml' ? 'a?b\ufffd' : 'a\u0007b\ufffd' },
    });
  });
});
