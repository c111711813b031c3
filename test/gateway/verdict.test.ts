import { describe, expect, test } from 'vitest';
import type { Format, InterfaceName } from '../../src/domain/message.ts';
import type { Evidence } from '../../src/gateway/evidence.ts';
import { classify } from '../../src/gateway/verdict.ts';
import { wireInterface } from '../../src/wire/interfaces.ts';

function answer(status: number, body: unknown, retryAfter?: string): Evidence {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const bytes = Buffer.from(text);
  return { kind: 'answer', status, body: bytes, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

const reading = (name: InterfaceName, format: Format) => (evidence: Evidence) =>
  classify(evidence, 'V1', wireInterface(name, format).decodeSendAnswer);
const verdict = reading('rest-2.02', 'json');
const earlier = reading('rest-1.04', 'json');
const soap = reading('soap-tts', 'xml');

const fault = (code: string): string =>
  `<s:Envelope xmlns:s="urn:s"><s:Body><s:Fault><faultcode>s:${code}</faultcode><faultstring>No</faultstring></s:Fault></s:Body></s:Envelope>`;
const success = { Result: 'Success', MessageID: 'V1' };

describe('accepted', () => {
  test('is only a 200 with a well-formed success for our MessageID', () => {
    expect(verdict(answer(200, success))).toEqual({ kind: 'accepted' });
  });

  test('is a 200 with the number of a job, in the interfaces that answer so', () => {
    const envelope =
      '<s:Envelope xmlns:s="urn:s"><s:Body><r><ttsReturn>Job 12</ttsReturn></r></s:Body></s:Envelope>';
    expect(earlier(answer(200, 'Job 12'))).toEqual({ kind: 'accepted', jobNumber: '12' });
    expect(soap(answer(200, envelope))).toEqual({ kind: 'accepted', jobNumber: '12' });
    expect(verdict(answer(200, 'Job 12'))).toMatchObject({ kind: 'in_doubt' });
    expect(earlier(answer(500, 'Job 12'))).toMatchObject({ kind: 'in_doubt' });
  });
});

describe('rejected', () => {
  test('is a 400 of any shape, with the words or else the text of the answer', () => {
    expect(verdict(answer(400, { Result: 'Failed', ErrorMessage: ['Missing Sender'] }))).toEqual({
      kind: 'rejected',
      words: ['Missing Sender'],
    });
    expect(verdict(answer(400, { Result: 'Failed', ErrorMessage: 'Missing Sender' }))).toMatchObject({
      words: ['Missing Sender'],
    });
    const xml = '<root><Result>Failed</Result><ErrorMessage>Missing Sender</ErrorMessage></root>';
    expect(verdict(answer(400, ` ${xml}\n`))).toEqual({ kind: 'rejected', words: ['Missing Sender'] });
    const page = '<html><body>Bad Request<br></body></html>';
    expect(verdict(answer(400, page))).toEqual({ kind: 'rejected', words: [page] });
    expect(verdict(answer(400, 'x'.repeat(9999)))).toEqual({ kind: 'rejected', words: ['x'.repeat(500)] });
  });

  test('is a readable failure with status 200 for our MessageID, or for none', () => {
    expect(verdict(answer(200, { Result: 'Failed', ErrorMessage: ['No'] }))).toEqual({
      kind: 'rejected',
      words: ['No'],
    });
    expect(verdict(answer(200, { Result: 'Failed', MessageID: 'V1' }))).toEqual({
      kind: 'rejected',
      words: ['Failed'],
    });
  });
});

describe('a SOAP fault', () => {
  test("is a rejection when it is the sender's, for SOAP says 500 where REST says 400", () => {
    for (const status of [500, 200]) {
      expect(soap(answer(status, fault('Client')))).toEqual({ kind: 'rejected', words: ['No'] });
    }
  });

  test("is in doubt when it is the service's", () => {
    expect(soap(answer(500, fault('Server')))).toEqual({ kind: 'in_doubt', reason: 'HTTP 500: No' });
    expect(soap(answer(200, fault('Server')))).toEqual({
      kind: 'in_doubt',
      reason: 'HTTP 200: No',
    });
  });

  test('says nothing that its HTTP status does not, where that is clear', () => {
    expect(soap(answer(401, fault('Client')))).toEqual({ kind: 'unauthorized', words: ['No'] });
    expect(soap(answer(503, fault('Client')))).toMatchObject({ kind: 'retry' });
  });
});

describe('unauthorized', () => {
  test.each([401, 403])('is a %i', (status) => {
    expect(verdict(answer(status, { Result: 'Unauthorized', ErrorMessage: ['Bad token'] }))).toEqual({
      kind: 'unauthorized',
      words: ['Bad token'],
    });
    expect(verdict(answer(status, ''))).toMatchObject({ kind: 'unauthorized' });
  });
});

describe('a refused credential', () => {
  const refused = { Result: 'Unauthorized', ErrorMessage: ['Bad token'] };

  test('is one with status 200 or 400 too, or the run would be spent on it', () => {
    for (const status of [200, 400]) {
      expect(verdict(answer(status, refused))).toEqual({ kind: 'unauthorized', words: ['Bad token'] });
    }
  });

  test('is one as a SOAP fault', () => {
    for (const status of [500, 400, 200]) {
      expect(soap(answer(status, fault('Client.Authentication')))).toEqual({
        kind: 'unauthorized',
        words: ['No'],
      });
    }
  });

  test('is in doubt where status and body say different things', () => {
    expect(verdict(answer(500, refused))).toMatchObject({ kind: 'in_doubt' });
  });
});

describe('retry', () => {
  test('is what was never sent', () => {
    expect(verdict({ kind: 'not_sent', error: 'connection refused' })).toEqual({
      kind: 'retry',
      reason: 'connection refused',
    });
  });

  test.each([429, 503])('is a %i, with the wait it asks for', (status) => {
    expect(verdict(answer(status, ''))).toEqual({ kind: 'retry', reason: `HTTP ${status}` });
    expect(verdict(answer(status, '', '7'))).toEqual({
      kind: 'retry',
      reason: `HTTP ${status}`,
      retryAfter: '7',
    });
  });
});

describe('in doubt', () => {
  test('is a 400 without a body, or with one that says something else', () => {
    expect(verdict(answer(400, ''))).toEqual({
      kind: 'in_doubt',
      reason: 'HTTP 400: the answer has no text',
    });
    expect(verdict(answer(400, success))).toMatchObject({ kind: 'in_doubt' });
    expect(earlier(answer(400, 'Job 12'))).toMatchObject({ kind: 'in_doubt' });
    expect(soap(answer(400, fault('Server')))).toMatchObject({ kind: 'in_doubt' });
  });

  test.each([200, 400, 401, 429, 503])('is a %i that names another MessageID', (status) => {
    for (const Result of ['Failed', 'Unauthorized', 'Queued']) {
      const other = { Result, MessageID: 'V2', ErrorMessage: ['No'] };
      expect(verdict(answer(status, other))).toEqual({
        kind: 'in_doubt',
        reason: `HTTP ${status}, but the answer names another MessageID (V2)`,
      });
    }
  });

  test.each([200, 400, 503])('is a %i that says something twice, in JSON as in XML', (status) => {
    for (const twice of [
      '{"Result":"Success","MessageID":"V2","MessageID":"V1"}',
      '{"Result":"Failed","Result":"Success","MessageID":"V1"}',
      '{"Result":"Failed","ErrorMessage":[{"a":1,"\\u0061":2}]}',
      '<root><Result>Failed</Result><MessageID>V1</MessageID><MessageID>V2</MessageID></root>',
    ]) {
      const reason = `HTTP ${status}, but the answer repeats a member`;
      expect(verdict(answer(status, twice))).toEqual({ kind: 'in_doubt', reason });
    }
    const once =
      '{"Result":"Failed","MessageID":"V1","ErrorMessage":["MessageID","MessageID"],"a":{"Result":1}}';
    expect(verdict(answer(200, once))).toMatchObject({ kind: 'rejected' });
  });

  test('is what was sent and not answered', () => {
    expect(verdict({ kind: 'no_answer', error: 'connection reset' })).toEqual({
      kind: 'in_doubt',
      reason: 'connection reset',
    });
  });

  test.each([301, 302, 307, 308, 404, 413, 500, 502, 504, 201, 204])('is a %i', (status) => {
    expect(verdict(answer(status, success))).toMatchObject({
      kind: 'in_doubt',
      reason: expect.stringContaining(`${status}`),
    });
  });

  test.each([
    ['is empty', ''],
    ['is a page', '<html>Welcome</html>'],
    ['is cut off', '{"Result":"Success","Mess'],
    ['has no known Result', { Result: 'Queued', MessageID: 'V1' }],
    ['is a success without MessageID', { Result: 'Success' }],
    ['is a success for another MessageID', { Result: 'Success', MessageID: 'V2' }],
    ['is a success for our MessageID in other letters', { Result: 'Success', MessageID: 'v1' }],
    ['is a failure for another MessageID', { Result: 'Failed', MessageID: 'V2', ErrorMessage: ['No'] }],
  ])('is a 200 that %s', (_what, body) => {
    expect(verdict(answer(200, body))).toMatchObject({
      kind: 'in_doubt',
      reason: expect.stringContaining('HTTP 200'),
    });
  });
});
