import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { deliveryReportMappingShape, toDeliveryReportMapping } from '../../src/gateway/receiver-settings.ts';
import { decodeDeliveryReport } from '../../src/wire/delivery-report.ts';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { isStopWord } from '../../src/wire/delivery-report-values.ts';
import { postCall } from '../support/delivery-report-calls.ts';

const schema = z.strictObject(deliveryReportMappingShape);
const read = (written: unknown) => toDeliveryReportMapping(schema.parse(written));

describe('the delivery report mapping of an account', () => {
  test('an account without a mapping has the observed one', () => {
    expect(read({})).toEqual(observedMapping);
  });

  test('names given for a field replace its default names, and other fields keep theirs', () => {
    const { fields } = read({ fields: { MessageID: ['messageId', 'ref'] } });
    expect(fields).toEqual({ ...observedMapping.fields, MessageID: ['messageId', 'ref'] });
  });

  test('status words are added to the observed ones, and the same word replaces its default', () => {
    const { statusWords } = read({ statusWords: { Expired: 'undelivered', ' PENDING': 'delivered' } });
    expect(statusWords).toEqual({
      success: 'delivered',
      failed: 'undelivered',
      pending: 'delivered',
      expired: 'undelivered',
    });
  });

  test('results are added to the observed one, and can override it', () => {
    const { resultWords } = read({ resultWords: { 'Control Deleted': 'delivered', Busy: 'pending' } });
    expect(resultWords).toEqual({ 'control deleted': 'delivered', busy: 'pending' });
  });

  test('lists of opt-out results and stop words replace the defaults', () => {
    const mapping = read({ optOutResults: ['No Permit Record'], stopWords: [] });
    expect(mapping.optOutResults).toEqual(['no permit record']);
    expect(isStopWord('STOP', mapping.stopWords)).toBe(false);
  });

  test('what recognises a call without Type, and where its reports stand, is taken as it is written', () => {
    const written = { withoutType: { report: 'state', type: 'SMS' }, reportsIn: ['Reports'] };
    expect(read(written)).toEqual({ ...observedMapping, ...written });
    expect(schema.safeParse({ withoutType: { reply: 'text' } }).success).toBe(false);
  });

  test('a report of another deployment is read', () => {
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
    expect(decodeDeliveryReport(postCall(body), mapping)).toMatchObject({
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
  ])('a mapping %j is refused', (written) => {
    expect(schema.safeParse(written).success).toBe(false);
  });

  test('a mapping does not change a prototype', () => {
    const { statusWords } = read(
      JSON.parse('{"statusWords":{"__proto__":"delivered","constructor":"delivered"}}'),
    );
    expect(Object.getPrototypeOf(statusWords)).toBe(Object.prototype);
    expect(Object.prototype).not.toHaveProperty('delivered');
  });

  test('the JSON Schema describes every part', () => {
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
      'withoutType',
      'reportsIn',
    ]);
    for (const part of Object.values(properties)) expect(part['description']).toMatch(/\w/);
  });
});
