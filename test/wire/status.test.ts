import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeStatusAnswer } from '../../src/wire/decode-status-answer.ts';
import {
  decodeStatusRequest,
  encodeStatusAnswer,
  encodeStatusRequest,
  jobStates,
  type MessageStatus,
  statusVersions,
} from '../../src/wire/status.ts';
import { carriableText } from '../support/messages.ts';

const authToken = 'secret-of-the-test';

function decode(path: string, query = '', headers: Record<string, string> = {}, method = 'GET') {
  return decodeStatusRequest({ method, path, query, headers, body: Buffer.of() });
}

describe('a status look-up', () => {
  test('is read as it was written, in every version and format', () => {
    const asked = fc.record({
      messageId: fc.string({ unit: 'grapheme', minLength: 1 }),
      recordsPerPage: fc.integer({ min: 1, max: 1000 }),
      page: fc.integer({ min: 1, max: 999_999_999 }),
    });
    const formats = fc.constantFrom('json', 'xml');
    fc.assert(
      fc.property(asked, formats, fc.constantFrom(...statusVersions), (page, format, version) => {
        const { method, path, headers } = encodeStatusRequest(
          page,
          { kind: 'authToken', authToken },
          format,
          version,
        );
        const [before = '', query] = path.split('?');
        const lowerCase = Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
        );
        expect(decode(before, query, lowerCase, method)).toEqual({ ...page, format, authToken });
      }),
    );
  });

  test('is not written with credentials of the earlier versions', () => {
    const asked = { messageId: 'M1', recordsPerPage: 100, page: 1 };
    const credentials = { kind: 'apiKey', sender: 'a@b.example', apiKey: authToken } as const;
    expect(() => encodeStatusRequest(asked, credentials, 'json', 'v2.02')).toThrow(/auth token/);
  });

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

describe.each(['json', 'xml'] as const)('a status in %s', (format) => {
  // As in a delivery report, white space around a value and U+0000 are not meant.
  const text = carriableText(format).filter(
    (value) => value !== '' && !value.includes('\0') && (format === 'json' || value === value.trim()),
  );
  const time = fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => `${date.toISOString().slice(0, 19)}.000Z`);
  const price = fc.nat().map((cents) => (cents / 100).toFixed(2));
  const number = fc.nat({ max: 999_999_999 });
  const statuses: fc.Arbitrary<MessageStatus> = fc.record(
    {
      messageId: text,
      state: fc.constantFrom(...jobStates),
      jobNumber: text,
      account: text,
      subAccount: text,
      department: text,
      reference: text,
      createdTimeUtc: time,
      timeZone: text,
      count: number,
      complete: number,
      success: number,
      failed: number,
      price,
      recordsPerPage: fc.integer({ min: 1, max: 1000 }),
      page: number,
      recipients: fc.array(
        fc.record(
          {
            type: fc.constantFrom('SMS', 'Email', 'Voice', 'Fax'),
            sequence: fc.nat({ max: 99_999_999 }),
            destination: text,
            status: text,
            result: text,
            sentTimeUtc: time,
            price,
          },
          { requiredKeys: ['type', 'sequence', 'destination', 'status', 'result', 'price'] },
        ),
        { maxLength: 3 },
      ),
    },
    {
      requiredKeys: [
        ...(['messageId', 'state', 'jobNumber', 'account', 'createdTimeUtc', 'count'] as const),
        ...(['complete', 'success', 'failed', 'price', 'recordsPerPage', 'page', 'recipients'] as const),
      ],
    },
  );

  test('is read as it was written', () => {
    fc.assert(
      fc.property(statuses, (status) => {
        const { body } = encodeStatusAnswer({ kind: 'found', status }, format);
        expect(decodeStatusAnswer(Buffer.from(body))).toEqual({ kind: 'found', status });
      }),
    );
  });

  test('that is not known is told apart from a refusal', () => {
    const unknown = encodeStatusAnswer({ kind: 'unknown', messageId: 'M1' }, format);
    expect([unknown.status, decodeStatusAnswer(Buffer.from(unknown.body))]).toEqual([
      404,
      { kind: 'unknown' },
    ]);
    const refused = encodeStatusAnswer({ kind: 'unauthorized', words: ['Who?'] }, format);
    expect([refused.status, decodeStatusAnswer(Buffer.from(refused.body))]).toEqual([
      401,
      { kind: 'failure', words: ['Who?'] },
    ]);
  });
});

describe('a status that somebody else wrote', () => {
  const read = (body: string) => decodeStatusAnswer(Buffer.from(body));

  test('is read as far as it can be', () => {
    const body = `{"Result":"SUCCESS","MessageID":"M1","Status":"OnFire","Price":1.10,"Page":"2",
      "Recipients":[{"Destination":"+64","Status":"Success","Price":"free"},{"Status":"Failed"},null,5]}`;
    expect(read(body)).toEqual({
      kind: 'found',
      status: {
        messageId: 'M1',
        state: 'Unknown',
        jobNumber: '',
        account: '',
        createdTimeUtc: '',
        count: 1,
        complete: 0,
        success: 0,
        failed: 0,
        price: '1.10',
        recordsPerPage: 1,
        page: 2,
        recipients: [
          { type: '', sequence: 1, destination: '+64', status: 'Success', result: '', price: '0' },
        ],
      },
    });
  });

  test.each([
    ['', 'the answer is neither a JSON object nor XML'],
    ['<html><body>Bad Gateway</body>', 'the answer is neither a JSON object nor XML'],
    ['<html><body>Bad Gateway</body></html>', 'the answer has no Result that is known'],
    ['{"Result":["Success"]}', 'the answer has no Result that is known'],
    ['{"Result":"Success"}', 'the answer has no MessageID'],
    ['{"Result":"Success","MessageID":"M1"}', 'the answer has no Status'],
  ])('is unreadable: %s', (body, why) => {
    expect(read(body)).toEqual({ kind: 'unreadable', why });
  });

  test('never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (Recipients, Price) => {
        const body = { Result: 'Success', MessageID: 'M1', Status: 'Completed', Recipients, Price };
        expect(read(JSON.stringify(body)).kind).toBe('found');
      }),
    );
  });
});
