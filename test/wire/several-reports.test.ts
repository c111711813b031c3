import { describe, expect, test } from 'vitest';
import { decodeDeliveryReport, deliveryReportCredentials } from '../../src/wire/delivery-report.ts';
import { observedMapping } from '../../src/wire/delivery-report-mapping.ts';
import { getCall, postCall } from '../support/delivery-report-calls.ts';

const report = (id: string) => ({ Type: 'SMS', Destination: '+6421', MessageID: id, Status: 'Success' });

/** The MessageIDs of the reports, or why the call cannot be read. */
function idsIn(body: unknown, reportsIn: readonly string[]): readonly string[] {
  const mapping = { ...observedMapping, reportsIn };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const decoded = decodeDeliveryReport(postCall(text), mapping);
  if (decoded.kind === 'several') return decoded.bodies.flatMap((one) => idsIn(one.toString(), reportsIn));
  if (decoded.kind === 'report') return [decoded.report.messageId ?? ''];
  return [decoded.kind === 'unreadable' ? decoded.why : decoded.kind];
}

describe('a call whose account says where its reports stand', () => {
  test('is read with one report or several, in a wrapper, a list, or both, under names in any case', () => {
    const [one, two] = [report('V1'), report('V2')];
    expect(idsIn({ Reports: one }, ['reports'])).toEqual(['V1']);
    expect(idsIn({ reports: [one, two], Count: 2 }, ['Reports'])).toEqual(['V1', 'V2']);
    expect(idsIn({ Batch: [{ Report: [one] }, { Report: two }] }, ['Batch', 'Report'])).toEqual(['V1', 'V2']);
    expect(idsIn([one, two], [])).toEqual(['V1', 'V2']);
    expect(idsIn([one], [])).toEqual(['V1']);
  });

  test('is read in XML, whose root element is not named', () => {
    const element = (id: string) =>
      `<Report><Type>SMS</Type><Destination>+6421</Destination><MessageID>${id}</MessageID><Status>Success</Status></Report>`;
    expect(idsIn(`<Reports>${element('V1')}</Reports>`, ['Report'])).toEqual(['V1']);
    expect(idsIn(`<Reports>${element('V1')}${element('V2')}</Reports>`, ['Report'])).toEqual(['V1', 'V2']);
  });

  test('is read as one report without the wrapper, and as form fields', () => {
    expect(idsIn(report('V1'), ['Reports'])).toEqual(['V1']);
    const form = getCall('Type=SMS&Destination=%2B6421&MessageID=V1&Status=Success');
    expect(decodeDeliveryReport(form, { ...observedMapping, reportsIn: [] })).toMatchObject({
      kind: 'report',
    });
  });

  test('gives each report what stands around them all, and prices as they were written', () => {
    const { MessageID: _, ...short } = report('');
    const body = `{"MessageID":"V9","Reports":[${JSON.stringify(short)},{"Price":0.0800,${JSON.stringify(short).slice(1)}]}`;
    expect(idsIn(body, ['Reports'])).toEqual(['V9', 'V9']);
    const mapping = { ...observedMapping, reportsIn: ['Reports'] };
    const decoded = decodeDeliveryReport(postCall(body), mapping);
    const second = decoded.kind === 'several' ? decoded.bodies[1] : undefined;
    expect(decodeDeliveryReport(postCall(second ?? ''), mapping)).toMatchObject({
      report: { price: '0.0800' },
    });
  });

  test('has credentials only if all its reports have the same', () => {
    const mapping = { ...observedMapping, reportsIn: ['Reports'] };
    const credentialsIn = (body: unknown) =>
      deliveryReportCredentials(postCall(JSON.stringify(body)), mapping);
    const both = [report('V1'), report('V2')];
    expect(credentialsIn({ Sender: 'a', APIKey: 'b', Reports: both })).toEqual({ sender: 'a', apiKey: 'b' });
    expect(credentialsIn({ Reports: [{ Sender: 'a', APIKey: 'b' }, { Sender: 'a' }] })).toEqual({});
  });

  test('a report that is none, or cannot be read, is one of its own', () => {
    expect(idsIn([report('V1'), 7, { MessageID: 'V2' }, report('V3')], [])).toEqual([
      'V1',
      'the body is neither JSON nor XML nor form fields',
      'it has no Type',
      'V3',
    ]);
  });

  test('is unreadable without a report, with too many, and when the reports repeat too much', () => {
    expect(idsIn([], [])).toEqual(['its list has no report']);
    expect(
      idsIn(
        Array.from({ length: 1_001 }, () => ({})),
        [],
      ),
    ).toEqual(['it has more than 1000 reports']);
    expect(idsIn({ Note: 'x'.repeat(900_000), Reports: Array(20).fill({}) }, ['Reports'])).toEqual([
      'its reports have too much around them',
    ]);
    expect(idsIn('{"Reports":[{"MessageID":"V1","MessageID":"V2"}]}', ['Reports'])).toEqual([
      'the JSON repeats a name',
    ]);
  });

  test('names that every object has are no wrappers', () => {
    expect(idsIn(report('V1'), ['constructor'])).toEqual(['V1']);
    expect(
      idsIn(`{"__proto__":[${JSON.stringify(report('V1'))},${JSON.stringify(report('V2'))}]}`, ['__proto__']),
    ).toEqual(['V1', 'V2']);
  });
});

describe('a call without Type', () => {
  const { Type: _, ...plain } = report('V1');
  const read = (body: object, withoutType: object) =>
    decodeDeliveryReport(postCall(JSON.stringify(body)), { ...observedMapping, withoutType });

  test('is a report or a reply by the field that only those have', () => {
    const rule = { report: 'status', reply: 'ReceivedID', type: 'SMS' };
    expect(read(plain, rule)).toMatchObject({ kind: 'report', report: { messageId: 'V1', type: 'SMS' } });
    const reply = { Destination: '+6421', ReceivedID: '7', Message: 'STOP' };
    expect(read(reply, rule)).toMatchObject({ kind: 'inbound', message: { text: 'STOP', type: 'SMSReply' } });
  });

  test('is unreadable if it could be both or neither', () => {
    const rule = { report: 'Status', reply: 'ReceivedID' };
    expect(read({ ...plain, ReceivedID: '7' }, rule)).toEqual({ kind: 'unreadable', why: 'it has no Type' });
    expect(read({ ...plain, Status: ' ' }, rule)).toEqual({ kind: 'unreadable', why: 'it has no Type' });
  });

  test('has the type of the account, and another Type in a call counts before it', () => {
    expect(read(plain, { type: 'Voice' })).toMatchObject({ report: { type: 'Voice' } });
    expect(read({ ...plain, Type: 'Fax' }, { type: 'Voice' })).toMatchObject({ report: { type: 'Fax' } });
    expect(read({ ...plain, Message: 'hi' }, { type: 'SMS', reply: 'Message' })).toMatchObject({
      kind: 'inbound',
    });
  });
});
