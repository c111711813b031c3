import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeSendRequest } from '../../src/wire/interfaces.ts';
import type { ReceivedRequest } from '../../src/wire/wire-interface.ts';

/** The service's side. */

type Changes = Partial<Omit<ReceivedRequest, 'body'>>;

function decode(body: string, changes: Changes = {}) {
  return decodeSendRequest({
    method: 'POST',
    path: '/api/v2.02/send/sms',
    query: '',
    headers: {},
    body: Buffer.from(body),
    ...changes,
  });
}

const earlierJson = { path: '/api/json/send/' };
const earlierXml = { path: '/api/xml/send/' };
const soap = { path: '/', headers: { soapaction: 'SendTTSService#send_tts' } };

function inSoap(parts: string, header = ''): string {
  return (
    `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">${header}` +
    `<s:Body><send_tts xmlns="urn:x">${parts}</send_tts></s:Body></s:Envelope>`
  );
}

describe('decodeSendRequest: path and interface', () => {
  test.each([
    ['/api/v2.02/send/email', '{"MessageData":{}}', 'rest-2.02', 'json', 'email'],
    [
      '/api/v2.02/send/fax',
      '<FaxRequest><MessageData><A/></MessageData></FaxRequest>',
      'rest-2.02',
      'xml',
      'fax',
    ],
    ['/api/json/send/', '{"MessageType":"sms","MessageData":{}}', 'rest-1.04', 'json', 'sms'],
    [
      '/api/json/send/',
      '{"APIVersion":1.02,"MessageType":"VOICE","MessageData":{}}',
      'rest-1.02',
      'json',
      'voice',
    ],
    [
      '/api/xml/send/',
      '<root><APIVersion>1.02</APIVersion><MessageType>TextToSpeech</MessageType><MessageData><A/></MessageData></root>',
      'rest-1.02',
      'xml',
      'tts',
    ],
  ])(
    'a request to %s with the body %s is read by the interface of that path',
    (path, body, interfaceName, format, channel) => {
      expect(decode(body, { path })).toMatchObject({
        kind: 'request',
        interface: interfaceName,
        format,
        answer: { interface: interfaceName, format, channel },
        request: { channel },
      });
    },
  );

  test('a request outside the REST paths with a SOAP action or an XML content type is read as SOAP', () => {
    const body = inSoap('<msg_to_people>x</msg_to_people>');
    expect(decode(body, soap)).toMatchObject({ kind: 'request', interface: 'soap-tts', format: 'xml' });
    const headers = { 'content-type': 'text/xml' };
    expect(decode(body, { path: '/soap/tts', headers })).toMatchObject({ interface: 'soap-tts' });
  });

  test.each([
    ['another method', { method: 'GET' }],
    ['a channel that is not there', { path: '/api/v2.02/send/voice' }],
    ['another path', { path: '/api/xml/status/' }],
    ['neither a REST path nor SOAP', { path: '/somewhere' }],
  ] as const)('%s is not read as a send request', (_, changes) => {
    expect(decode('{}', changes)).toEqual({ kind: 'other' });
  });
});

describe('decodeSendRequest: format of the answer', () => {
  const xml = '<SMSRequest><MessageData><Message>x</Message></MessageData></SMSRequest>';
  test.each([
    [xml, {}, 'xml', 'xml'],
    [xml, { accept: "application/json; encoding='utf-8'" }, 'xml', 'json'],
    ['{"MessageData":{}}', { accept: 'application/xml' }, 'json', 'xml'],
    ['{"MessageData":{}}', { accept: '*/*', 'content-type': 'text/plain' }, 'json', 'json'],
  ])(
    'the body %s with the headers %o is answered in the format of Accept, or else of the request',
    (body, headers, format, answered) => {
      expect(decode(body, { headers })).toMatchObject({
        kind: 'request',
        format,
        answer: { format: answered },
      });
    },
  );
});

describe('decodeSendRequest: credentials', () => {
  test.each(['', 'null', '[]', '{"MessageData":[]}', '{', '<a/>', '<a>'])(
    'the credentials are read although the body is %j',
    (body) => {
      expect(decode(body, { headers: { authorization: 'basic  tok' } })).toMatchObject({
        kind: 'unreadable',
        answer: { channel: 'sms' },
        credentials: { kind: 'authToken', authToken: 'tok' },
      });
      expect(decode(body, earlierJson)).toMatchObject({
        kind: 'unreadable',
        credentials: { kind: 'apiKey', sender: '', apiKey: '' },
      });
      expect(decode(body, soap)).toMatchObject({ kind: 'unreadable', answer: { interface: 'soap-tts' } });
    },
  );

  test('a token of another scheme is not read', () => {
    expect(decode('{}', { headers: { authorization: 'Bearer tok' } })).not.toHaveProperty('credentials');
  });
});

describe('decodeSendRequest: bodies of other clients', () => {
  test('incomplete destinations, files and keypads are kept, values that are not text are dropped, and so are credentials', () => {
    const decoded = decode(
      JSON.stringify({
        MessageType: 'Voice',
        Sender: 'a@b.example',
        APIKey: 'secret',
        MessageID: ' ',
        MessageData: {
          Options: 5,
          Reference: null,
          Nested: {},
          Sender: 'a@b.example',
          APIKey: 'secret',
          Destinations: [{ Recipient: 6421, Custom9: 'x' }, {}, '64211234567', null],
          Files: [{ Name: 'a' }],
          Keypads: [{ Tone: 1 }, { RouteNumber: '64' }, 'x'],
        },
      }),
      earlierJson,
    );
    expect(decoded).toMatchObject({
      request: {
        channel: 'voice',
        fields: { Options: '5' },
        destinations: [{ Recipient: '6421' }, { Recipient: '' }, { Recipient: '+64211234567' }],
        files: [{ Name: 'a', Data: '' }],
        keypads: [
          { Tone: '1', RouteNumber: '' },
          { Tone: '', RouteNumber: '64' },
        ],
      },
      credentials: { sender: 'a@b.example', apiKey: 'secret' },
    });
    expect(JSON.stringify('request' in decoded && decoded.request)).not.toMatch(/secret|MessageID/);
  });

  test('XML may be indented and have comments, CDATA, prefixes, attributes and a declaration', () => {
    const decoded = decode(
      `<?xml version="1.0" encoding="utf-8"?>
       <!-- from elsewhere -->
       <n:SMSRequest xmlns:n="urn:n" a="b">
         <n:MessageData>
           <n:Message><![CDATA[ <Hi> &amp; ]]></n:Message>
           <n:Destinations>
             <n:Destination><n:Recipient>+64211234567</n:Recipient></n:Destination>
             <n:Destination><n:Recipient>0012345</n:Recipient><n:FirstName>true</n:FirstName></n:Destination>
           </n:Destinations>
         </n:MessageData>
       </n:SMSRequest>`,
    );
    expect(decoded).toMatchObject({
      request: {
        fields: { Message: ' <Hi> &amp; ' },
        destinations: [{ Recipient: '+64211234567' }, { Recipient: '0012345', 'First Name': 'true' }],
      },
    });
  });

  test('XML is read in its declared encoding, and bytes that are no text are refused', () => {
    const message = '<SMSRequest><MessageData><Message>caf\u00e9</Message></MessageData></SMSRequest>';
    const received = (declaration: string) =>
      decodeSendRequest({
        method: 'POST',
        path: '/api/v2.02/send/sms',
        query: '',
        headers: {},
        body: Buffer.from(declaration + message, 'latin1'),
      });
    expect(received('<?xml version="1.0" encoding="ISO-8859-1"?>')).toMatchObject({
      request: { fields: { Message: 'caf\u00e9' } },
    });
    expect(received('<?xml version="1.0"?>')).toMatchObject({ kind: 'unreadable' });
    expect(received('<?xml version="1.0" encoding="no-such"?>')).toMatchObject({ kind: 'unreadable' });
  });

  test('numbers in JSON keep the text in which they were written', () => {
    const decoded = decode(
      '{"MessageData":{"Message":1.0,"Reference":1.10,"ChargeCode":12345678901234567890,"Destinations":[{"Recipient":64211234567890123456}]}}',
    );
    expect(decoded).toMatchObject({
      request: {
        fields: { Message: '1.0', Reference: '1.10', ChargeCode: '12345678901234567890' },
        destinations: [{ Recipient: '64211234567890123456' }],
      },
    });
  });

  test('an earlier version may have a single destination, as text or as an element', () => {
    const body = (destination: string): string =>
      `<root><MessageType>SMS</MessageType><MessageData><Message>x</Message>${destination}</MessageData></root>`;
    expect(decode(body('<Destinations>64211234567</Destinations>'), earlierXml)).toMatchObject({
      request: { destinations: [{ Recipient: '+64211234567' }] },
    });
    expect(
      decode(body('<Destinations><Recipient>64211234567</Recipient></Destinations>'), earlierXml),
    ).toMatchObject({ request: { destinations: [{ Recipient: '+64211234567' }] } });
    expect(decode(body('<Destinations/>'), earlierXml)).toMatchObject({ request: { destinations: [] } });
  });

  test('SOAP may have its numbers on lines, and in a CSV file with or without a header line', () => {
    const csv = (text: string): string => Buffer.from(text).toString('base64');
    const numbers = (parts: string) => {
      const decoded = decode(inSoap(parts), soap);
      return decoded.kind === 'request' ? decoded.request.destinations : [];
    };
    const both = [{ Recipient: '+64211234567' }, { Recipient: '+64217654321' }];
    expect(numbers('<phone_numbers>64211234567\n 64217654321;</phone_numbers>')).toEqual(both);
    expect(numbers(`<csv_file>${csv('64211234567,a\r\n64217654321,b\r\n')}</csv_file>`)).toEqual(both);
    expect(numbers(`<csv_file>${csv('Company,Recipient\nAcme,64211234567\n')}</csv_file>`)).toEqual([
      { Recipient: '+64211234567', Company: 'Acme' },
    ]);
    expect(numbers(`<csv_file>${csv('"never closed')}</csv_file>`)).toEqual([]);
  });

  test('SOAP has only the keypads that are enabled', () => {
    const parts =
      '<keypad_1_enabled>1</keypad_1_enabled><keypad_1_route_number>64</keypad_1_route_number>' +
      '<keypad_2_enabled>false</keypad_2_enabled><keypad_2_route_number>65</keypad_2_route_number>' +
      '<keypad_3_enabled>Yes</keypad_3_enabled>';
    expect(decode(inSoap(parts), soap)).toMatchObject({
      request: {
        keypads: [
          { Tone: '1', RouteNumber: '64' },
          { Tone: '3', RouteNumber: '' },
        ],
      },
    });
  });
});

describe('decodeSendRequest: harmful XML', () => {
  test.each([
    ['a reference to a control character', '<Message>&#7;</Message>'],
    ['a reference to nothing', '<Message>&#x0;</Message>'],
    ['a control character', '<Message>\u0001</Message>'],
    ['an external document type', '<!DOCTYPE a SYSTEM "http://127.0.0.1:1/a.dtd"><Message>x</Message>'],
    ['elements that are never closed', '<a>'.repeat(50_000)],
    ['markup that is not an element', '<Message>x</Message><!junk>'],
    ['a document type in the middle', '<!DOCTYPE a><Message>x</Message>'],
  ])('a body that contains %s is unreadable', (_, content) => {
    expect(decode(`<SMSRequest><MessageData>${content}</MessageData></SMSRequest>`)).toMatchObject({
      kind: 'unreadable',
    });
  });

  test('a document type inside CDATA is plain text', () => {
    const message = '<Message><![CDATA[<!DOCTYPE html>]]></Message><!-- <!DOCTYPE b> -->';
    expect(decode(`<SMSRequest><MessageData>${message}</MessageData></SMSRequest>`)).toMatchObject({
      request: { fields: { Message: '<!DOCTYPE html>' } },
    });
  });

  test('an undeclared entity stays as it was written', () => {
    const message = '<SMSRequest><MessageData><Message>&e;</Message></MessageData></SMSRequest>';
    expect(decode(message)).toMatchObject({ request: { fields: { Message: '&e;' } } });
  });
});

test('decodeSendRequest never throws, whatever the bytes', () => {
  const paths = ['/api/v2.02/send/sms', '/api/json/send/', '/api/xml/send/', '/'];
  const piece = fc.constantFrom(
    '<',
    '>',
    '</',
    '/>',
    '<root>',
    '</root>',
    '<MessageData>',
    '</MessageData>',
    '<![CDATA[',
    ']]>',
    '&#',
    ';',
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '"MessageData"',
    '"MessageType":"sms"',
    'null',
    '<?',
    '?>',
    '<!--',
    '\0',
  );
  const bodies = fc.oneof(
    fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
    fc.json(),
  );
  fc.assert(
    fc.property(fc.constantFrom(...paths), bodies, (path, body) => {
      decode(body, { path, headers: { 'content-type': 'text/xml' } });
    }),
    { numRuns: 2000 },
  );
});
