import { describe, expect, test } from 'vitest';
import { decodeFollowUpCall, encodeFollowUpAnswer } from '../../src/wire/follow-up-calls.ts';

type Changes = { readonly query?: string; readonly headers?: Record<string, string>; readonly body?: object };

function decode(method: string, path: string, { query = '', headers = {}, body }: Changes = {}) {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  return decodeFollowUpCall({ method, path, query, headers, body: bytes });
}

const question = (...parameters: Parameters<typeof decode>) => decode(...parameters)?.question;

describe('decodeFollowUpCall: status look-up', () => {
  test.each(['v2.02', 'v2.03', 'v2.04', 'V2.04'])(
    'a look-up of version %s names a message, a page, a format and a token',
    (version) => {
      const headers = { accept: "application/xml; encoding='utf-8'", authorization: 'Basic tok' };
      const query = 'recordsPerPage=20&page=3';
      expect(decode('GET', `/api/${version}/get/status/M%201`, { query, headers })).toEqual({
        question: { kind: 'status', messageId: 'M 1', recordsPerPage: 20, page: 3 },
        format: 'xml',
        credentials: { kind: 'authToken', authToken: 'tok' },
      });
    },
  );

  test('a look-up without page, size and token asks for the first hundred recipients, in JSON, without credentials', () => {
    expect(decode('GET', '/api/v2.02/get/status/M1')).toEqual({
      question: { kind: 'status', messageId: 'M1', recordsPerPage: 100, page: 1 },
      format: 'json',
    });
  });

  test.each([
    ['recordsPerPage=0&page=0', 1, 1],
    ['recordsPerPage=1001&page=2', 1000, 2],
    ['recordsPerPage=-5&page=1.5', 100, 1],
    ['recordsPerPage=&page=99999999999999', 100, 1],
    ['recordsPerPage=7&recordsPerPage=8', 7, 1],
  ])('a look-up with %s asks for %d recipients a page, page %d', (query, recordsPerPage, page) => {
    expect(question('GET', '/api/v2.02/get/status/M1', { query })).toMatchObject({ recordsPerPage, page });
  });

  test.each([
    ['POST', '/api/v2.02/get/status/M1'],
    ['POST', '/api/v2.02/get/status'],
    ['GET', '/api/v2.01/get/status/M1'],
    ['GET', '/api/v2.02/get/status/'],
    ['GET', '/api/v2.02/get/status/a/b'],
    ['GET', '/api/v2.02/get/statuses/M1'],
    ['GET', '/api/v2.02/get/sms/reply/M1'],
    ['PATCH', '/api/v2.02/set/abort/M1'],
    ['GET', '/api/v2.04/set/abort/M1'],
    ['PATCH', '/api/v2.04/set/abort'],
    ['PATCH', '/api/v2.04/set/explode/M1'],
  ])('%s %s is not a look-up', (method, path) => {
    expect(decode(method, path)).toBeUndefined();
  });

  test('a MessageID with invalid percent-encoding is read as it is written', () => {
    expect(question('GET', '/api/v2.02/get/status/%zz')).toMatchObject({ messageId: '%zz' });
  });
});

describe('decodeFollowUpCall: versions 2.03 and 2.04', () => {
  test.each(['v2.03', 'v2.04'])(
    '%s has calls for replies, for received messages and for actions on a message',
    (version) => {
      const path = (call: string) => `/api/${version}/${call}`;
      expect(question('GET', path('get/sms/reply/M1/'))).toMatchObject({ kind: 'reply', messageId: 'M1' });
      const query = 'recordsPerPage=100&page=1&timePeriod=1440';
      expect(question('GET', path('get/sms/received'), { query })).toEqual({
        kind: 'received',
        period: { timePeriod: '1440', dateFrom: '', dateTo: '' },
        recordsPerPage: 100,
        page: 1,
      });
      // Published clients write an extra member, and the path in any case.
      const body = { HTTPMethod: 'PATCH', SendTime: '2030-01-01T08:00', NumberOfOperators: 5 };
      for (const call of ['abort', 'Reschedule', 'resubmit', 'pacing']) {
        expect(question('PATCH', path(`set/${call}/Mx`), { body })).toEqual({
          kind: 'action',
          action: call.toLowerCase(),
          messageId: 'Mx',
          sendTime: '2030-01-01T08:00',
          numberOfOperators: '5',
        });
      }
    },
  );

  test('the older call style is a POST with the MessageID and the credentials in the body', () => {
    const body = { Sender: 'a@b.example', APIKey: 'key', MessageID: 'M1', RecordsPerPage: 7, TimePeriod: 60 };
    const headers = { authorization: '' };
    const decodePost = (call: string) => decode('POST', `/api/v2.04/${call}`, { body, headers });
    expect(decodePost('get/status')).toEqual({
      question: { kind: 'status', messageId: 'M1', recordsPerPage: 7, page: 1 },
      format: 'json',
      credentials: { kind: 'apiKey', sender: 'a@b.example', apiKey: 'key' },
    });
    expect(decodePost('get/sms/received')?.question).toMatchObject({ period: { timePeriod: '60' } });
    expect(decodePost('set/abort')?.question).toMatchObject({ action: 'abort', messageId: 'M1' });
  });
});

test('an action is answered with the job number, the state and the name of the action', () => {
  const done = {
    kind: 'done',
    action: 'abort',
    messageId: 'M1',
    jobNumber: '10AB20CE',
    state: 'Completed',
  } as const;
  expect(encodeFollowUpAnswer(done, 'json').body).toBe(
    '{"Result":"Success","MessageID":"M1","Status":"Completed","JobNum":"10AB20CE","Action":"Abort"}',
  );
  expect(encodeFollowUpAnswer({ kind: 'refused', words: ['No'], messageId: 'M1' }, 'xml')).toMatchObject({
    status: 400,
    body: expect.stringContaining('<MessageID>M1</MessageID><ErrorMessage>No</ErrorMessage>'),
  });
});
