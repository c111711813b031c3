import { describe, expect, test } from 'vitest';
import { decodeStatusRequest, encodeStatusAnswer, type MessageStatus } from '../../src/wire/status.ts';
import { parseMembers } from '../../src/wire/xml.ts';

function decode(path: string, query = '', headers: Record<string, string> = {}, method = 'GET') {
  return decodeStatusRequest({ method, path, query, headers, body: Buffer.of() });
}

describe('a status look-up', () => {
  test.each(['v2.02', 'v2.03', 'v2.04'])(
    'of version %s names a message, a page, a format and a token',
    (version) => {
      const headers = { accept: "application/xml; encoding='utf-8'", authorization: 'Basic tok' };
      expect(decode(`/api/${version}/get/status/M%201`, 'recordsPerPage=20&page=3', headers)).toEqual({
        messageId: 'M 1',
        recordsPerPage: 20,
        page: 3,
        format: 'xml',
        authToken: 'tok',
      });
    },
  );

  test('without a page, a size and a token is of the first hundred, in JSON, by nobody', () => {
    expect(decode('/api/v2.02/get/status/M1')).toEqual({
      messageId: 'M1',
      recordsPerPage: 100,
      page: 1,
      format: 'json',
    });
  });

  test.each([
    ['recordsPerPage=0&page=0', 1, 1],
    ['recordsPerPage=1001&page=2', 1000, 2],
    ['recordsPerPage=-5&page=1.5', 100, 1],
    ['recordsPerPage=&page=99999999999999', 100, 1],
    ['recordsPerPage=7&recordsPerPage=8', 7, 1],
  ])('with %s is of %d a page, page %d', (query, recordsPerPage, page) => {
    expect(decode('/api/v2.02/get/status/M1', query)).toMatchObject({ recordsPerPage, page });
  });

  test.each([
    ['POST', '/api/v2.02/get/status/M1'],
    ['GET', '/api/v2.01/get/status/M1'],
    ['GET', '/api/v2.02/get/status/'],
    ['GET', '/api/v2.02/get/status/a/b'],
    ['GET', '/api/v2.02/get/statuses/M1'],
  ])('is not %s %s', (method, path) => {
    expect(decode(path, '', {}, method)).toBeUndefined();
  });

  test('of a path that is no text is of the path as it stands', () => {
    expect(decode('/api/v2.02/get/status/%zz')).toMatchObject({ messageId: '%zz' });
  });
});

const status: MessageStatus = {
  messageId: 'M1',
  state: 'Completed',
  jobNumber: '12AB34CD',
  account: 'SANDBOX',
  subAccount: 'a & "b"',
  createdTimeUtc: '2026-11-21T10:00:00.000Z',
  count: 3,
  complete: 2,
  success: 1,
  failed: 1,
  price: '0.240',
  recordsPerPage: 2,
  page: 1,
  recipients: [
    {
      type: 'SMS',
      sequence: 1,
      destination: '+64211234567',
      status: 'Success',
      result: 'delivered',
      sentTimeUtc: '2026-11-21T10:00:05.000Z',
      price: '0.080',
    },
  ],
};

describe('a status is written with the members of observed.md', () => {
  const members = {
    Result: 'Success',
    MessageID: 'M1',
    Status: 'Completed',
    JobNum: '12AB34CD',
    Account: 'SANDBOX',
    SubAccount: 'a & "b"',
    CreatedTimeUTC: '2026-11-21 10:00:00',
    Price: '0.240',
  };
  const counts = {
    Count: 3,
    Complete: 2,
    Success: 1,
    Failed: 1,
    TotalRecords: 3,
    RecordsPerPage: 2,
    PageCount: 2,
    Page: 1,
  };
  const recipient = {
    Type: 'SMS',
    DestSeq: '00000001',
    Destination: '+64211234567',
    Status: 'Success',
    Result: 'delivered',
    SentTimeUTC: '2026-11-21 10:00:05',
    Price: '0.080',
  };

  test('in JSON', () => {
    const { body } = encodeStatusAnswer({ kind: 'found', status }, 'json');
    expect(JSON.parse(body)).toMatchObject({
      ...members,
      ...counts,
      Department: null,
      Recipients: [recipient],
    });
  });

  test('in XML', () => {
    const { body } = encodeStatusAnswer({ kind: 'found', status }, 'xml');
    const texts = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
    const Recipients = { Recipient: recipient };
    expect(parseMembers(Buffer.from(body))).toMatchObject({
      ...members,
      ...texts,
      Department: '',
      Recipients,
    });
  });

  test('or with RecordNotFound and 404, or as a refusal with 401', () => {
    expect(encodeStatusAnswer({ kind: 'unknown', messageId: 'M1' }, 'json')).toMatchObject({
      status: 404,
      body: '{"Result":"RecordNotFound","MessageID":"M1"}',
    });
    expect(encodeStatusAnswer({ kind: 'unauthorized', words: ['Who?'] }, 'json')).toMatchObject({
      status: 401,
      body: '{"Result":"Unauthorized","ErrorMessage":["Who?"]}',
    });
  });
});
