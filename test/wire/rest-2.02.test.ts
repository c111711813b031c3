import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Channel, MessageFields, SendRequest } from '../../src/domain.ts';
import { messageFields } from '../../src/wire/fields.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import type { EncodedSendRequest } from '../../src/wire/wire.ts';

const credentials = { kind: 'authToken', authToken: 'aaa.bbb.ccc' } as const;

const sms: SendRequest = {
  channel: 'sms',
  messageId: 'V0001',
  fields: { CharacterConversion: 'true', Message: 'Kia ora [[First Name]]', Reference: '007' },
  destinations: [{ Recipient: '+64211234567', Custom2: '0042', 'First Name': 'Ana' }],
  files: [],
};

function receive({ method, path, headers, body }: EncodedSendRequest) {
  const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return rest202Json.decodeSendRequest({ method, path, headers: Object.fromEntries(lowerCased), body });
}

describe('a send request of version 2.02 in JSON', () => {
  test('has the path, headers and body of interface.md, 4.1', () => {
    const { method, path, headers, body } = rest202Json.encodeSendRequest(sms, credentials);
    expect({ method, path }).toEqual({ method: 'POST', path: '/api/v2.02/send/sms' });
    expect(headers).toEqual({
      'Content-Type': "application/json; encoding='utf-8'",
      Accept: "application/json; encoding='utf-8'",
      Authorization: 'Basic aaa.bbb.ccc',
    });
    expect(body.toString()).toBe(
      '{"MessageData":{"MessageID":"V0001","Reference":"007","Message":"Kia ora [[First Name]]",' +
        '"CharacterConversion":true,' +
        '"Destinations":[{"Recipient":"+64211234567","First Name":"Ana","Custom2":"0042"}]}}',
    );
  });

  test('sends whole numbers as numbers, and files as name and data', () => {
    const fax: SendRequest = {
      channel: 'fax',
      messageId: 'V2',
      fields: { RetryAttempts: '3', CSID: '0800' },
      destinations: [{ Recipient: '+6495005000' }],
      files: [{ Name: 'a.pdf', Data: 'QUJD' }],
    };
    const { path, body } = rest202Json.encodeSendRequest(fax, credentials);
    expect(path).toBe('/api/v2.02/send/fax');
    expect(JSON.parse(body.toString())).toEqual({
      MessageData: {
        MessageID: 'V2',
        CSID: '0800',
        RetryAttempts: 3,
        Destinations: [{ Recipient: '+6495005000' }],
        Files: [{ Name: 'a.pdf', Data: 'QUJD' }],
      },
    });
  });

  test('is the same bytes whatever the order its fields were given in', () => {
    const turned: SendRequest = {
      ...sms,
      fields: Object.fromEntries(Object.entries(sms.fields).reverse()),
      destinations: [{ Custom2: '0042', 'First Name': 'Ana', Recipient: '+64211234567' }],
    };
    const [one, other] = [sms, turned].map((request) => rest202Json.encodeSendRequest(request, credentials));
    expect(other?.body).toEqual(one?.body);
  });

  test('comes back as it was, whatever text is in it', () => {
    fc.assert(
      fc.property(requests, (request) => {
        const decoded = receive(rest202Json.encodeSendRequest(request, credentials));
        expect(decoded).toEqual({ kind: 'request', request, credentials });
      }),
    );
  });

  test('is not written with a field, a value, a channel or a credential the interface does not have', () => {
    const write = (changes: Partial<SendRequest>) => () =>
      rest202Json.encodeSendRequest({ ...sms, ...changes }, credentials);
    expect(write({ fields: { EmailSubject: 'x' } })).toThrow('rest-2.02 has no field EmailSubject for sms');
    expect(write({ fields: { CharacterConversion: 'yes' } })).toThrow('must be true or false, got "yes"');
    expect(write({ channel: 'fax', fields: { RetryPeriod: '1.5' } })).toThrow('must be a whole number');
    expect(write({ channel: 'tts' })).toThrow('rest-2.02 has no channel tts; it has email, sms, fax');
    const apiKey = { kind: 'apiKey', sender: 'a@b.example', apiKey: 'k' } as const;
    expect(() => rest202Json.encodeSendRequest(sms, apiKey)).toThrow('takes an auth token');
  });
});

describe('the receiving side', () => {
  const decode = (body: string, changes: { method?: string; path?: string; authorization?: string } = {}) => {
    const { method = 'POST', path = '/api/v2.02/send/sms', authorization } = changes;
    const headers = authorization === undefined ? {} : { authorization };
    return rest202Json.decodeSendRequest({ method, path, headers, body: Buffer.from(body) });
  };

  test('takes another method or path for another interface', () => {
    expect(decode('{}', { method: 'GET' })).toEqual({ kind: 'other' });
    expect(decode('{}', { path: '/api/v2.02/send/voice' })).toEqual({ kind: 'other' });
    expect(decode('{}', { path: '/api/json/send/' })).toEqual({ kind: 'other' });
  });

  test('knows who asks even when it cannot read what', () => {
    for (const body of ['', 'null', '[]', '{"MessageData":[]}', '<a/>', '{']) {
      expect(decode(body, { authorization: 'basic  tok' })).toEqual({
        kind: 'unreadable',
        channel: 'sms',
        credentials: { kind: 'authToken', authToken: 'tok' },
      });
    }
    expect(decode('{}')).toEqual({ kind: 'unreadable', channel: 'sms' });
    expect(decode('{}', { authorization: 'Bearer tok' })).toEqual({ kind: 'unreadable', channel: 'sms' });
  });

  test('leaves out what is not text, keeps incomplete destinations and files, and drops credentials', () => {
    const decoded = decode(
      JSON.stringify({
        MessageData: {
          MessageID: ' ',
          Message: 5,
          Reference: null,
          Nested: {},
          Sender: 'a@b.example',
          APIKey: 'secret',
          Destinations: [{ Recipient: 6421, Custom9: 'x' }, {}, '+64', null],
          Files: [{ Name: 'a' }],
        },
      }),
    );
    expect(decoded).toEqual({
      kind: 'request',
      request: {
        channel: 'sms',
        fields: { Message: '5' },
        destinations: [{ Recipient: '6421' }, { Recipient: '' }],
        files: [{ Name: 'a', Data: '' }],
      },
    });
  });

  test('never throws and never touches a prototype', () => {
    const hostile = decode(
      '{"MessageData":{"__proto__":{"a":"1"},"constructor":"x","Destinations":{"length":9}}}',
    );
    expect(hostile).toMatchObject({ kind: 'request', request: { destinations: [] } });
    expect(({} as Record<string, unknown>)['a']).toBeUndefined();
    fc.assert(
      fc.property(fc.json(), (message) => {
        expect(decode(`{"MessageData":${message}}`).kind).not.toBe('other');
      }),
    );
  });
});

const text = fc.string({ unit: 'binary' });

/** Some of the channel's fields, each with any value of its type. */
function fieldsOf(channel: Channel): fc.Arbitrary<MessageFields> {
  const values = {
    text,
    boolean: fc.constantFrom('true', 'false'),
    integer: fc.nat({ max: 999_999_999 }).map(String),
  };
  const pairs = messageFields('rest-2.02', channel).map(({ name, type }) =>
    fc.tuple(fc.constant(name), values[type]),
  );
  return fc
    .subarray(pairs)
    .chain((some) => fc.tuple(...some))
    .map((chosen) => Object.fromEntries(chosen));
}

/** Any request that the tables allow: any text in every field. */
const requests: fc.Arbitrary<SendRequest> = fc.constantFrom('email', 'sms', 'fax').chain((channel) =>
  fc.record(
    {
      channel: fc.constant(channel),
      messageId: text.filter((value) => value.trim() !== ''),
      fields: fieldsOf(channel),
      destinations: fc.array(
        fc.record({ Recipient: text, 'First Name': text, Custom1: text }, { requiredKeys: ['Recipient'] }),
      ),
      files: fc.array(fc.record({ Name: text, Data: fc.base64String() })),
    },
    { requiredKeys: ['channel', 'fields', 'destinations', 'files'] },
  ),
);
