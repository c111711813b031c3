import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  deliveryReportMappingShape,
  toDeliveryReportMapping,
} from '../../src/gateway/delivery-report-mapping.ts';
import { decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { isStopWord } from '../../src/wire/stop-words.ts';
import { posted } from '../support/delivery-report-calls.ts';

const schema = z.strictObject(deliveryReportMappingShape);
const read = (written: unknown) => toDeliveryReportMapping(schema.parse(written));

describe('the mapping of an account', () => {
  test('is the observed one where the account says nothing', () => {
    expect(read({})).toEqual(observedMapping);
  });

  test('takes the names given for a field in place of its own, and leaves the other fields as they are', () => {
    const { fields } = read({ fields: { MessageID: ['messageId', 'ref'] } });
    expect(fields).toEqual({ ...observedMapping.fields, MessageID: ['messageId', 'ref'] });
  });

  test('adds status words to the observed ones, and replaces the same word', () => {
    const { statusWords } = read({ statusWords: { Expired: 'undelivered', ' PENDING': 'delivered' } });
    expect(statusWords).toEqual({
      success: 'delivered',
      failed: 'undelivered',
      pending: 'delivered',
      expired: 'undelivered',
    });
  });

  test('adds results to the observed one, and can take it back', () => {
    const { resultWords } = read({ resultWords: { 'Control Deleted': 'delivered', Busy: 'pending' } });
    expect(resultWords).toEqual({ 'control deleted': 'delivered', busy: 'pending' });
  });

  test('replaces the lists of opt-out results and of stop words', () => {
    const mapping = read({ optOutResults: ['No Permit Record'], stopWords: [] });
    expect(mapping.optOutResults).toEqual(['no permit record']);
    expect(isStopWord('STOP', mapping.stopWords)).toBe(false);
  });

  test('reads a report of another deployment', () => {
    const mapping = read({
      fields: { MessageID: ['messageId'], Status: ['state'], Result: ['reason'], Destination: ['to'] },
      statusWords: { expired: 'undelivered' },
      optOutResults: ['Blocked'],
    });
    const body = JSON.stringify({
      type: 'SMS',
      to: '+6421',
      messageID: 'V1',
      State: 'EXPIRED',
      reason: 'blocked',
    });
    expect(decodeDeliveryReport(posted(body), mapping)).toMatchObject({
      report: {
        messageId: 'V1',
        destination: '+6421',
        outcome: 'undelivered',
        result: 'blocked',
        optedOut: true,
      },
    });
  });

  test.each([
    [{ fields: { MessageId: ['x'] } }],
    [{ fields: { MessageID: [] } }],
    [{ fields: { MessageID: [''] } }],
    [{ fields: { MessageID: 'x' } }],
    [{ statusWords: { expired: 'lost' } }],
    [{ statusWords: { '': 'delivered' } }],
    [{ stopWords: 'STOP' }],
  ])('refuses %j', (written) => {
    expect(schema.safeParse(written).success).toBe(false);
  });

  test('touches no prototype', () => {
    const { statusWords } = read(
      JSON.parse('{"statusWords":{"__proto__":"delivered","constructor":"delivered"}}'),
    );
    expect(Object.getPrototypeOf(statusWords)).toBe(Object.prototype);
    expect(Object.prototype).not.toHaveProperty('delivered');
  });

  test('has a JSON Schema that describes every part', () => {
    const { properties } = z
      .object({ properties: z.record(z.string(), z.looseObject({})) })
      .parse(z.toJSONSchema(schema, { io: 'input' }));
    expect(Object.keys(properties)).toEqual([
      'fields',
      'statusWords',
      'resultWords',
      'optOutResults',
      'stopWords',
      'credits',
    ]);
    for (const part of Object.values(properties)) expect(part['description']).toMatch(/\w/);
  });
});
