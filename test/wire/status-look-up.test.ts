import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeAnswer } from '../../src/wire/answer-members.ts';
import { decodeFollowUpCall } from '../../src/wire/follow-up-calls.ts';
import { rest104Json } from '../../src/wire/rest-1.ts';
import { soapTts } from '../../src/wire/soap-tts.ts';
import { createStatusLookUp } from '../../src/wire/status-look-up.ts';

const formats = ['json', 'xml'] as const;
const token = { kind: 'authToken', authToken: 'tok' } as const;

const status = {
  Result: 'Success',
  MessageID: '0123',
  Status: 'Pending',
  JobNum: '12AB34CD',
  DelayedTimeUTC: null,
  PageCount: 1,
  Recipients: [{ Type: 'SMS', Destination: '+64211234567', Status: 'Pending' }],
};

describe.each(formats)('status look-up in %s', (format) => {
  const lookUp = createStatusLookUp(format);
  const decode = (text: string) => lookUp.decode(Buffer.from(text));

  test('the service understands the look-up: the smallest page of that message, with that token', () => {
    const { method, path, headers } = lookUp.encode('M 1/ä', token);
    const [before = '', query = ''] = path.split('?');
    const lowerCase = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
    const received = { method, path: before, query, headers: Object.fromEntries(lowerCase) };
    expect(decodeFollowUpCall({ ...received, body: Buffer.of() })).toEqual({
      question: { kind: 'status', messageId: 'M 1/ä', recordsPerPage: 1, page: 1 },
      format,
      credentials: token,
    });
  });

  test('a message is read as the service writes it', () => {
    const { body } = encodeAnswer(200, status, format);
    expect(decode(body)).toEqual({
      kind: 'found',
      messageId: '0123',
      state: 'Pending',
      jobNumber: '12AB34CD',
    });
  });

  test('an unknown message and a refusal are read as the service writes them', () => {
    const notFound = { Result: 'RecordNotFound', MessageID: 'M1', ErrorMessage: ['Not found'] };
    expect(decode(encodeAnswer(404, notFound, format).body)).toEqual({ kind: 'not_found', messageId: 'M1' });
    const unauthorized = { Result: 'Unauthorized', ErrorMessage: ['Who?'] };
    expect(decode(encodeAnswer(401, unauthorized, format).body)).toEqual({
      kind: 'unauthorized',
      words: ['Who?'],
    });
  });
});

const { decode } = createStatusLookUp('json');

test.each([
  ['an empty body', ''],
  ['white space', ' \n'],
  ['a page of a proxy', '<html><body>Sign in</body></html>'],
  ['text', 'OK'],
  ['a list', '[{"Result":"Success","MessageID":"M1"}]'],
  ['a cut body', '{"Result":"Success","MessageID":"M1"'],
  ['another Result', '{"Result":"Maybe","MessageID":"M1"}'],
  ['a Result that is a list', '{"Result":["Success"],"MessageID":"M1"}'],
  ['no MessageID', '{"Result":"Success"}'],
  ['a blank MessageID', '{"Result":"Success","MessageID":" "}'],
  ['several MessageIDs', '<r><Result>Success</Result><MessageID>M1</MessageID><MessageID>M2</MessageID></r>'],
  ['what is inherited', '{"__proto__":{"Result":"Success","MessageID":"M1"}}'],
  ['a document type', '<!DOCTYPE r [<!ENTITY e "Success">]><r><Result>&e;</Result></r>'],
  ['nesting too deep', `${'<a>'.repeat(100_000)}`],
  ['brackets too deep', '['.repeat(100_000)],
])('an answer with %s is unreadable', (_, body) => {
  expect(decode(Buffer.from(body))).toEqual({ kind: 'unreadable', why: expect.any(String) });
});

test('no bytes throw', () => {
  const pieces = fc.constantFrom(
    '<r>',
    '{"Result":"',
    'Success',
    '</',
    '\0',
    '"',
    ',"MessageID":',
    '[',
    '&#0;',
  );
  const texts = fc.array(fc.oneof(pieces, fc.string())).map((parts) => Buffer.from(parts.join('')));
  fc.assert(
    fc.property(fc.oneof(texts, fc.uint8Array()), (body) => {
      expect(decode(body)).toHaveProperty('kind');
    }),
  );
});

test('a look-up refuses credentials of another interface, and other interfaces have no look-up', () => {
  expect(() => createStatusLookUp('json').encode('M1', { kind: 'apiKey', sender: 's', apiKey: 'k' })).toThrow(
    'needs an auth token',
  );
  expect([rest104Json.statusLookUp, soapTts.statusLookUp]).toEqual([undefined, undefined]);
});
