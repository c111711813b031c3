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

describe('classify: accepted', () => {
  test('only a 200 with a well-formed success for our MessageID is accepted', () => {
    expect(verdict(answer(200, success))).toEqual({ kind: 'accepted' });
  });

  test('a 200 with a job number is accepted in the interfaces that answer so', () => {
    const envelope =
      '<s:Envelope xmlns:s="urn:s"><s:Body><r><ttsReturn>Job 12</ttsReturn></r></s:Body></s:Envelope>';
    expect(earlier(answer(200, 'Job 12'))).toEqual({ kind: 'accepted', jobNumber: '12' });
    expect(soap(answer(200, envelope))).toEqual({ kind: 'accepted', jobNumber: '12' });
    expect(verdict(answer(200, 'Job 12'))).toMatchObject({ kind: 'in_doubt' });
    expect(earlier(answer(500, 'Job 12'))).toMatchObject({ kind: 'in_doubt' });
  });
});

describe('classify: rejected', () => {
  test("a 400 of any shape is rejected, with the service's words or the text of the answer", () => {
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

  test('a readable failure with status 200 for our MessageID, or for none, is rejected', () => {
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

describe('classify: SOAP faults', () => {
  test('a fault of the sender is rejected, because SOAP answers 500 where REST answers 400', () => {
    for (const status of [500, 200]) {
      expect(soap(answer(status, fault('Client')))).toEqual({ kind: 'rejected', words: ['No'] });
    }
  });

  test('a fault of the service is in doubt', () => {
    expect(soap(answer(500, fault('Server')))).toEqual({ kind: 'in_doubt', reason: 'HTTP 500: No' });
    expect(soap(answer(200, fault('Server')))).toEqual({
      kind: 'in_doubt',
      reason: 'HTTP 200: No',
    });
  });

  test('a clear HTTP status takes precedence over a fault', () => {
    expect(soap(answer(401, fault('Client')))).toEqual({ kind: 'unauthorized', words: ['No'] });
    expect(soap(answer(503, fault('Client')))).toMatchObject({ kind: 'retry' });
  });
});

describe('classify: unauthorized', () => {
  test.each([401, 403])('a %i is unauthorized', (status) => {
    expect(verdict(answer(status, { Result: 'Unauthorized', ErrorMessage: ['Bad token'] }))).toEqual({
      kind: 'unauthorized',
      words: ['Bad token'],
    });
    expect(verdict(answer(status, ''))).toMatchObject({ kind: 'unauthorized' });
  });
});

describe('classify: refused credentials', () => {
  const refused = { Result: 'Unauthorized', ErrorMessage: ['Bad token'] };

  test('a refused credential is recognised with status 200 and 400 too, because otherwise the whole run would fail with it', () => {
    for (const status of [200, 400]) {
      expect(verdict(answer(status, refused))).toEqual({ kind: 'unauthorized', words: ['Bad token'] });
    }
  });

  test('a refused credential is recognised in a SOAP fault', () => {
    for (const status of [500, 400, 200]) {
      expect(soap(answer(status, fault('Client.Authentication')))).toEqual({
        kind: 'unauthorized',
        words: ['No'],
      });
    }
  });

  test('a refused credential is in doubt if status and body contradict each other', () => {
    expect(verdict(answer(500, refused))).toMatchObject({ kind: 'in_doubt' });
  });
});

describe('classify: retry', () => {
  test('a request that was never sent is retried', () => {
    expect(verdict({ kind: 'not_sent', error: 'connection refused' })).toEqual({
      kind: 'retry',
      reason: 'connection refused',
    });
  });

  test.each([429, 503])('a %i is retried, with the requested wait', (status) => {
    expect(verdict(answer(status, ''))).toEqual({ kind: 'retry', reason: `HTTP ${status}` });
    expect(verdict(answer(status, '', '7'))).toEqual({
      kind: 'retry',
      reason: `HTTP ${status}`,
      retryAfter: '7',
    });
  });
});

describe('classify: in doubt', () => {
  test('a 400 without a body, or with one that says something else, is in doubt', () => {
    expect(verdict(answer(400, ''))).toEqual({
      kind: 'in_doubt',
      reason: 'HTTP 400, no media type: the answer has no text',
      foreign: true,
    });
    expect(verdict(answer(400, success))).toMatchObject({ kind: 'in_doubt' });
    expect(earlier(answer(400, 'Job 12'))).toMatchObject({ kind: 'in_doubt' });
    expect(soap(answer(400, fault('Server')))).toMatchObject({ kind: 'in_doubt' });
  });

  test.each([200, 400, 401, 429, 503])('a %i that names another MessageID is in doubt', (status) => {
    for (const Result of ['Failed', 'Unauthorized', 'Queued']) {
      const other = { Result, MessageID: 'V2', ErrorMessage: ['No'] };
      expect(verdict(answer(status, other))).toEqual({
        kind: 'in_doubt',
        reason: `HTTP ${status}, but the answer names another MessageID (V2)`,
      });
    }
  });

  test.each([200, 400, 503])('a %i that repeats a member is in doubt, in JSON and in XML', (status) => {
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

  test('a request that was sent and not answered is in doubt', () => {
    expect(verdict({ kind: 'no_answer', error: 'connection reset' })).toEqual({
      kind: 'in_doubt',
      reason: 'connection reset',
    });
  });

  test.each([301, 302, 307, 308, 404, 413, 500, 502, 504, 201, 204])('a %i is in doubt', (status) => {
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
  ])('a 200 that %s is in doubt', (_what, body) => {
    expect(verdict(answer(200, body))).toMatchObject({
      kind: 'in_doubt',
      reason: expect.stringContaining('HTTP 200'),
    });
  });
});
