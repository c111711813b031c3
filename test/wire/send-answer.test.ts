import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rest202Json } from '../../src/wire/rest-2.02.ts';

const decode = (body: string) => rest202Json.decodeSendAnswer(200, 'application/json', Buffer.from(body));

describe('an answer to a send request', () => {
  test('is a success with its MessageID', () => {
    expect(decode('{"Result":"Success","MessageID":"V1"}')).toEqual({ kind: 'success', messageId: 'V1' });
    expect(decode('{"Result":"SUCCESS"}')).toEqual({ kind: 'success' });
  });

  test('is a failure with its words, as a list, as a text, or under the earlier name', () => {
    expect(decode('{"Result":"Failed","ErrorMessage":["Missing Sender","Other"]}')).toEqual({
      kind: 'failure',
      words: ['Missing Sender', 'Other'],
    });
    expect(decode('{"Result":"Failed","MessageID":"V1","ErrorMessage":"Missing Sender"}')).toEqual({
      kind: 'failure',
      messageId: 'V1',
      words: ['Missing Sender'],
    });
    expect(decode('{"Result":"Failed","Message":"Missing APIKey"}')).toMatchObject({
      words: ['Missing APIKey'],
    });
    expect(decode('{"Result":"Unauthorized","ErrorMessage":[]}')).toEqual({ kind: 'failure', words: [] });
  });

  test('is understood in XML too: any root, one error element or several, CDATA, leading zeros kept', () => {
    expect(
      decode('<?xml version="1.0"?><root><Result>Success</Result><MessageID>0012</MessageID></root>'),
    ).toEqual({
      kind: 'success',
      messageId: '0012',
    });
    expect(
      decode(
        '<r><Result>Failed</Result><ErrorMessage>a &amp; b</ErrorMessage><ErrorMessage><![CDATA[<c>]]></ErrorMessage></r>',
      ),
    ).toEqual({ kind: 'failure', words: ['a & b', '<c>'] });
  });

  test('keeps only words that are text, and not endlessly many', () => {
    const words = [null, {}, 'a'.repeat(1000), ...Array.from({ length: 50 }, () => 'b')];
    const decoded = decode(JSON.stringify({ Result: 'Failed', ErrorMessage: words }));
    expect(decoded).toMatchObject({
      kind: 'failure',
      words: ['a'.repeat(500), ...Array.from({ length: 19 }, () => 'b')],
    });
  });

  test.each([
    '',
    ' ',
    '<html>Bad gateway</html>',
    'null',
    '"Success"',
    '[]',
    '{}',
    '{"Result":1}',
    '{"Result":"Maybe"}',
  ])('is unreadable when it is %j', (body) => {
    expect(decode(body)).toMatchObject({ kind: 'unreadable', why: expect.any(String) });
  });

  test('is unreadable, not a crash, whatever bytes it has', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(rest202Json.decodeSendAnswer(200, undefined, bytes)).toMatchObject({ kind: 'unreadable' });
      }),
    );
  });
});

describe('an answer is written', () => {
  const written = (...[answer, channel]: Parameters<typeof rest202Json.encodeSendAnswer>) => {
    const { status, body } = rest202Json.encodeSendAnswer(answer, channel);
    return { status, body: JSON.parse(body.toString()) };
  };

  test('with 200 for a success', () => {
    expect(written({ kind: 'accepted', messageId: 'V1' }, 'sms')).toEqual({
      status: 200,
      body: { Result: 'Success', MessageID: 'V1' },
    });
  });

  test('with 400 in the shapes of the samples: a list without MessageID for email, one text for SMS and fax', () => {
    const refused = { kind: 'refused', words: ['Missing or empty destinations'], messageId: 'V1' } as const;
    expect(written(refused, 'email')).toEqual({
      status: 400,
      body: { Result: 'Failed', ErrorMessage: ['Missing or empty destinations'] },
    });
    for (const channel of ['sms', 'fax'] as const) {
      expect(written(refused, channel)).toEqual({
        status: 400,
        body: { Result: 'Failed', MessageID: 'V1', ErrorMessage: 'Missing or empty destinations' },
      });
    }
  });

  test('with 401 for a bad token, and 500 for a fault', () => {
    expect(written({ kind: 'unauthorized', words: ['No'] }, 'sms')).toEqual({
      status: 401,
      body: { Result: 'Unauthorized', ErrorMessage: ['No'] },
    });
    expect(written({ kind: 'fault', words: ['Broken'] }, undefined).status).toBe(500);
  });
});
