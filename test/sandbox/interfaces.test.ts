import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { rest104Json, rest104Xml } from '../../src/wire/rest-1.ts';
import { rest202Xml } from '../../src/wire/rest-2.02.ts';
import { soapTts } from '../../src/wire/soap-tts.ts';
import { credentialsFor, everyChannel, secret, smallestMessage } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';
import { get, post, send, startTestSandbox } from './start-test-sandbox.ts';

describe('interfaces of the sandbox', () => {
  test.each(everyChannel)('all interfaces are served on one port: %s', async (_, wire, channel) => {
    await using sandbox = await startTestSandbox({ token: secret });
    const message = smallestMessage(wire.name, channel);
    const { status, type, text } = await send(sandbox, wire, message);
    expect({ status, type }).toEqual({ status: 200, type: expect.stringContaining(wire.format) });
    expect(wire.decodeSendAnswer(Buffer.from(text))).toEqual(
      wire.name === 'soap-tts'
        ? { kind: 'unnamed_success', jobNumber: expect.stringMatching(/^\d[0-9A-F]{7}$/) }
        : { kind: 'success', messageId: 'M1' },
    );
    expect(await sandbox.journal()).toMatchObject([
      {
        interface: wire.name,
        format: wire.format,
        channel,
        messageId: 'M1',
        recipients: message.destinations.map(({ Recipient }) => Recipient),
        status: 200,
        repeated: false,
        words: [],
        message: { fields: message.fields, keypads: [] },
      },
    ]);
    expect(await sandbox.journalText()).not.toContain(secret);
  });

  test.each(['/', '/soap', '/any/where.asmx', '/soap?x=1'])('SOAP is served at %s', async (path) => {
    await using sandbox = await startTestSandbox();
    const { headers, body } = soapTts.encodeSendRequest(
      outgoing(smallestMessage('soap-tts', 'tts')),
      credentialsFor('soap-tts'),
    );
    const { status } = await post(sandbox.url + path, body, { ...headers });
    expect(status).toBe(200);
  });
});

describe('credentials in the body', () => {
  const json = { 'Content-Type': 'application/json' };
  const envelope = (changes: object) =>
    JSON.stringify({
      Sender: 'user@example.com',
      APIKey: secret,
      APIVersion: '1.04',
      MessageType: 'SMS',
      MessageData: { Message: 'x', Destinations: ['64211234567'] },
      ...changes,
    });
  const inXml = (credentials: string) =>
    `<root>${credentials}<APIVersion>1.04</APIVersion><MessageType>SMS</MessageType><MessageData><Message>x</Message><Destinations>1</Destinations></MessageData></root>`;
  const inSoap = (credentials: string) =>
    `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><send_tts>${credentials}<phone_numbers>1</phone_numbers><msg_to_people>x</msg_to_people></send_tts></e:Body></e:Envelope>`;

  test('missing credentials are a missing field, answered 400 with its name', async () => {
    await using sandbox = await startTestSandbox({ token: secret, newMessageId: () => 'G1' });
    const answers = [
      await post(`${sandbox.url}/api/json/send/`, envelope({ Sender: undefined }), json),
      await post(`${sandbox.url}/api/json/send/`, envelope({ Sender: ' ', APIKey: '' }), json),
      await post(`${sandbox.url}/api/xml/send/`, inXml('<Sender>a@b.example</Sender>')),
    ];
    expect(answers).toMatchObject([
      { status: 400, text: '{"Result":"Failed","MessageID":"G1","Message":"Missing Sender"}' },
      {
        status: 400,
        text: '{"Result":"Failed","MessageID":"G1","Message":"Missing Sender; Missing APIKey"}',
      },
      { status: 400, text: expect.stringContaining('<Message>Missing APIKey</Message>') },
    ]);
  });

  test('missing credentials in SOAP are a fault of the sender, answered 500', async () => {
    await using sandbox = await startTestSandbox({ token: secret });
    expect(await post(sandbox.url, inSoap('<sender/><token>x</token>'), { SOAPAction: 'x' })).toMatchObject({
      status: 500,
      text: expect.stringContaining(
        '<faultcode>soap:Client</faultcode><faultstring>Missing Sender</faultstring>',
      ),
    });
  });

  test('wrong credentials are answered 401 if a token is configured, and accepted otherwise', async () => {
    await using strict = await startTestSandbox({ token: secret });
    await using open = await startTestSandbox();
    const wrong = envelope({ APIKey: `${secret}2` });
    const wrongInXml = inXml('<Sender>a@b.example</Sender><APIKey>wrong</APIKey>');
    const wrongInSoap = inSoap('<sender>a@b.example</sender><token>wrong</token>');
    const statuses = async (url: string) => [
      (await post(`${url}/api/json/send/`, wrong, json)).status,
      (await post(`${url}/api/xml/send/`, wrongInXml)).status,
      (await post(url, wrongInSoap, { SOAPAction: 'x' })).status,
    ];
    expect(await statuses(strict.url)).toEqual([401, 401, 401]);
    expect(await statuses(open.url)).toEqual([200, 200, 200]);
    expect(await post(`${strict.url}/api/json/send/`, wrong, json)).toMatchObject({
      text: '{"Result":"Unauthorized","Message":["Invalid or missing auth token"]}',
    });
  });

  test('credentials are never in the journal, wherever the request has them', async () => {
    await using sandbox = await startTestSandbox({ token: 'another' });
    const credentials = { APIKey: secret, apikey: secret, Token: secret, AuthToken: secret, Sender: secret };
    const data = { ...credentials, Message: 'x', Destinations: [{ Recipient: '1', ...credentials }] };
    await post(`${sandbox.url}/api/json/send/?APIKey=${secret}`, envelope({ MessageData: data }), json);
    await post(`${sandbox.url}/api/v2.02/send/sms`, JSON.stringify({ APIKey: secret, MessageData: data }), {
      ...json,
      Authorization: `Basic ${secret}`,
    });
    const elements = `<Sender>s</Sender><APIKey>${secret}</APIKey>`;
    const inData = inXml(elements).replace('<MessageData>', `<MessageData>${elements}`);
    await post(`${sandbox.url}/api/xml/send/`, inData);
    const parts = `<sender>s</sender><t:token xmlns:t="urn:x">${secret}</t:token><Token>${secret}</Token>`;
    await post(sandbox.url, inSoap(parts), { SOAPAction: secret });
    expect(await sandbox.journal()).toMatchObject([
      { interface: 'rest-1.04', status: 401, message: { fields: { Message: 'x' } } },
      { interface: 'rest-2.02', status: 401, message: { fields: { Message: 'x' } } },
      { interface: 'rest-1.04', status: 401, message: { fields: { Message: 'x' } } },
      { interface: 'soap-tts', status: 401, message: { fields: { MessageToPeople: 'x' } } },
    ]);
    expect(await sandbox.journalText()).not.toContain(secret);
  });
});

describe('the WSDL of the SOAP interface', () => {
  test.each(['/?wsdl', '/soap?WSDL', '/soap/tts?Wsdl&x=1'])(
    'the WSDL is served at %s, and names that address',
    async (path) => {
      await using sandbox = await startTestSandbox({ token: 'another' });
      const answer = await get(sandbox.url + path);
      expect(answer).toMatchObject({ status: 200, type: 'text/xml; charset=utf-8' });
      const [withoutQuery] = path.split('?');
      expect(answer.text).toContain(`<soap:address location="${sandbox.url}${withoutQuery}"/>`);
    },
  );

  test.each(['/', '/?x=wsdl', '/?wsdlx', '/api/json/send/?wsdl'])(
    'the WSDL is not served at %s',
    async (path) => {
      await using sandbox = await startTestSandbox();
      expect(await get(sandbox.url + path)).toMatchObject({ status: 404 });
    },
  );

  test('an invalid Host header is not used as the address', async () => {
    await using sandbox = await startTestSandbox();
    const described = async (host: string, path = '/soap') => {
      const socket = connect(sandbox.port, '127.0.0.1');
      socket.write(`GET ${path}?wsdl HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return /location="([^>]*)"\/>/.exec(await text(socket))?.[1];
    };
    expect(await described('service.example:8443')).toBe('http://service.example:8443/soap');
    expect(await described('[::1]:80')).toBe('http://[::1]/soap');
    for (const hostile of ['a"/><x', 'user@evil.example', 'evil.example/x', 'a b', '1.2.3.4:99999']) {
      expect(await described(hostile)).toBe('http://localhost/soap');
    }
    expect(await described('a', '//evil.example/"><x>&amp;')).toBe(
      'http://a//evil.example/%22%3E%3Cx%3E&amp;amp;',
    );
  });

  test('a request for the WSDL is not in the journal', async () => {
    await using sandbox = await startTestSandbox();
    await get(`${sandbox.url}/?wsdl`);
    expect(await sandbox.journal()).toEqual([]);
  });
});

describe('requests without a message', () => {
  const deep = (levels: number) => `${'<a>'.repeat(levels)}x${'</a>'.repeat(levels)}`;
  const bodies: readonly (readonly [string, string])[] = [
    ['nothing', ''],
    ['half of a document', '<SMSRequest><MessageData>'],
    [
      'a document type',
      '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><MessageData>&x;</MessageData></a>',
    ],
    [
      'entities of entities',
      '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><a><MessageData>&b;</MessageData></a>',
    ],
    ['elements in elements', `<root><MessageData><Message>${deep(10_000)}</Message></MessageData></root>`],
    ['names of a prototype', '<root><__proto__><MessageData/></__proto__><constructor/></root>'],
    ['names of a prototype in JSON', '{"__proto__":{"MessageData":{}},"constructor":{}}'],
    ['two documents', '<a/><b/>'],
    ['bytes that are no text', '\0\u0001<\ufffd'],
    ['JSON', '{"MessageData":"x"}'],
    ['brackets in brackets', `{"MessageData":${'['.repeat(100_000)}`],
  ];

  test.each(bodies)(
    'the body of %s is answered 400 in version 2.02, and the sandbox continues',
    async (_, body) => {
      await using sandbox = await startTestSandbox();
      const headers = { Authorization: 'Basic any', 'Content-Type': 'application/xml' };
      const answer = await post(`${sandbox.url}/api/v2.02/send/sms`, body, headers);
      expect(answer).toMatchObject({
        status: 400,
        text: expect.stringContaining('<ErrorMessage>Missing message data</ErrorMessage></root>'),
      });
      expect(await send(sandbox, rest202Xml, smallestMessage('rest-2.02', 'sms'))).toMatchObject({
        status: 200,
      });
    },
  );

  test.each(bodies)(
    'the body of %s is answered 400 in the earlier versions, and with a fault in SOAP',
    async (_, body) => {
      await using sandbox = await startTestSandbox({ token: secret, newMessageId: () => 'G1' });
      expect(await post(`${sandbox.url}/api/xml/send/`, body)).toMatchObject({
        status: 400,
        text: expect.stringContaining('<Message>Missing message data</Message>'),
      });
      expect(await post(`${sandbox.url}/api/json/send/`, body)).toMatchObject({
        status: 400,
        text: '{"Result":"Failed","MessageID":"G1","Message":["Missing message data"]}',
      });
      expect(await post(sandbox.url, body, { SOAPAction: 'x' })).toMatchObject({
        status: 500,
        text: expect.stringContaining('<faultstring>Missing message data</faultstring>'),
      });
      for (const wire of [rest104Json, rest104Xml]) {
        expect(await send(sandbox, wire, smallestMessage(wire.name, 'sms'))).toMatchObject({ status: 200 });
      }
    },
  );

  test.each([
    '/api/v2.02/send/sms',
    '/api/v2.02/send/voice',
    '/api/json/send/',
    '/api/xml/send/',
    '/',
    '/api/v2.02/../../etc/passwd',
    '/%00%01',
    '/api/v2.05/get/status/x',
    '/api/v2.02/get/status/',
    '/api/v2.02/get/status/a/b',
    '/api/v2.02/get/sms/reply/M1',
    '/api/v2.04/set/abort/M1',
    `/${'a'.repeat(8000)}`,
  ])('GET %s is answered 404', async (path) => {
    await using sandbox = await startTestSandbox();
    expect(await get(sandbox.url + path)).toMatchObject({
      status: 404,
      text: expect.stringMatching(/^({"Result":"Failed",|<\?xml.*<root><Result>Failed<).*There is no GET /),
    });
  });

  test('a path that HTTP does not allow is answered 400', async () => {
    await using sandbox = await startTestSandbox();
    expect(await get(`${sandbox.url}/%ff`)).toMatchObject({ status: 400 });
  });

  test.each(['/api/json/send', '/api/v2.02/send/sms/x', '/api/', '/nowhere'])(
    'POST %s is answered 404',
    async (path) => {
      await using sandbox = await startTestSandbox();
      expect(await post(sandbox.url + path, '{}')).toMatchObject({ status: 404 });
      expect(await sandbox.journal()).toMatchObject([{ interface: null, status: 404, message: null }]);
    },
  );
});
