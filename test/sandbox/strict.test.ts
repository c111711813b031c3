import { describe, expect, test } from 'vitest';
import { wav } from '../support/wav.ts';
import { get, post, startTestSandbox, type TestSandbox } from './start-test-sandbox.ts';

const base64 = Buffer.from('x').toString('base64');
const audio = (options?: Parameters<typeof wav>[0]) => wav(options).toString('base64');
const json = { Authorization: 'Basic any', 'Content-Type': 'application/json' };
const xml = { ...json, 'Content-Type': 'application/xml', Accept: 'application/xml' };

type Channel = 'sms' | 'email' | 'fax';

const recipient = { Recipient: '+64211234567' };
const smallest: Readonly<Record<Channel, object>> = {
  sms: { MessageID: 'V1', Message: 'x', Destinations: [recipient] },
  email: { MessageID: 'V1', MessagePlain: 'x', Destinations: [{ Recipient: 'a@b.example' }] },
  fax: { MessageID: 'V1', Message: 'x', Destinations: [{ Recipient: '+6493001234' }] },
};

function send202({ url }: TestSandbox, channel: Channel, changes: object) {
  const body = JSON.stringify({ MessageData: { ...smallest[channel], ...changes } });
  return post(`${url}/api/v2.02/send/${channel}`, body, json);
}

function send104({ url }: TestSandbox, type: string, changes: object, envelope: object = {}) {
  const MessageData = { MessageToPeople: audio(), Message: 'x', Destinations: ['6493001234'], ...changes };
  const sender = {
    Sender: 'user@example.com',
    APIKey: 'key',
    APIVersion: '1.04',
    MessageType: type,
    MessageID: 'V1',
  };
  return post(`${url}/api/json/send/`, JSON.stringify({ ...sender, MessageData, ...envelope }), json);
}

const forbidden202: readonly (readonly [Channel, object, string])[] = [
  ['sms', { MessageID: 'a'.repeat(41) }, 'Invalid MessageID'],
  ['sms', { MessageID: 'a-b' }, 'Invalid MessageID'],
  ['sms', { Reference: 'r'.repeat(81) }, 'Reference must be at most 80 characters'],
  ['sms', { WebhookCallbackFormat: 'json' }, 'WebhookCallbackFormat must be JSON or XML'],
  ['sms', { WebhookCallbackURL: 'https://' }, 'WebhookCallbackURL must be a full path'],
  ['sms', { SendTime: '01/12/2026 09:00' }, 'Invalid SendTime'],
  ['sms', { SendTime: '2026-02-30T09:00' }, 'Invalid SendTime'],
  ['sms', { TimeZone: 'Atlantis/Capital' }, 'Invalid TimeZone'],
  ['sms', { CharacterConversion: 'yes' }, 'CharacterConversion must be true or false'],
  ['sms', { Destinations: [{ Recipient: 'me' }] }, 'Could not find any valid destination'],
  ['sms', { Files: { Name: 'a.pdf', Data: base64 } }, 'Files must be a list'],
  ['sms', { SendTime: '2026-12-01 09:00' }, 'Invalid SendTime'],
  ['email', { Destinations: [{ Recipient: '+64211234567' }] }, 'Could not find any valid destination'],
  ['email', { FromEmail: 'Acme' }, 'Invalid sender format'],
  ['fax', { RetryAttempts: -1 }, 'RetryAttempts must be a whole number'],
  ['fax', { Files: [{ Name: 'a.pdf', Data: '%PDF' }] }, 'Invalid file data on file 1'],
  ['sms', { Message: 'x', MessageID: 12 }, 'MessageID must be text'],
  ['sms', { Message: 5 }, 'Message must be text'],
  ['sms', { Reference: ['r'] }, 'Reference must be text'],
  ['sms', { SubAccount: true }, 'SubAccount must be text'],
  ['sms', { SendTime: { at: 'noon' } }, 'SendTime must be text'],
  ['sms', { CharacterConversion: 1 }, 'CharacterConversion must be true or false'],
  ['fax', { RetryAttempts: true }, 'RetryAttempts must be a whole number'],
  ['sms', { Destinations: [recipient, '+64211234568'] }, 'Invalid destination 2'],
  ['sms', { Destinations: [recipient, null] }, 'Invalid destination 2'],
  ['sms', { Destinations: [recipient, 64211234568] }, 'Invalid destination 2'],
  [
    'sms',
    { Destinations: [{ Recipient: '+64211234567', 'First Name': { x: 1 } }] },
    'First Name of destination 1 must be text',
  ],
  ['sms', { Destinations: [{ Recipient: 64211234567 }] }, 'Recipient of destination 1 must be text'],
  ['sms', { Destinations: [{ Recipient: '+123' }] }, 'Could not find any valid destination'],
  ['sms', { Destinations: [{ Recipient: '+0211234567' }] }, 'Could not find any valid destination'],
  ['email', { Files: [{ Name: 'a.pdf' }] }, 'Missing file data on file 1'],
  ['sms', { Files: [{ Data: base64 }] }, 'Missing file name on file 1'],
  ['email', { Files: ['a.pdf'] }, 'Invalid file 1. It must hold Name and Data'],
  ['email', { Files: [{ Name: 7, Data: base64 }] }, 'Name of file 1 must be text'],
  ['email', { Files: [{ Name: 'a.pdf', Data: 'eA=' }] }, 'Invalid file data on file 1'],
  ['email', { Files: [{ Name: 'a.pdf', Data: 'eA===' }] }, 'Invalid file data on file 1'],
];

/** What the service checks too, and so a lenient sandbox. */
const required202: readonly (readonly [Channel, object, string])[] = [
  ['sms', { Destinations: [] }, 'Missing or empty destinations'],
  ['sms', { Destinations: [{ Recipient: ' ' }] }, 'Error - Could not find any valid destination(s).'],
  ['sms', { Message: ' ' }, 'Missing or empty message'],
  ['sms', { Message: { Text: 'x' } }, 'Missing or empty message'],
  ['sms', { WebhookCallbackURL: 'http://a.example' }, 'WebhookCallbackURL must start with https://'],
  ['email', { MessagePlain: '', EmailSubject: 'x' }, 'Missing or empty message body. Please specify'],
  ['fax', { Message: '' }, 'Missing fax contents - Empty or missing message & file fields'],
  ['fax', { Files: [{ Name: '', Data: base64 }] }, 'Missing file name on file 1'],
  ['fax', { Files: [{ Name: 'a.pdf', Data: '' }] }, 'Missing file data on file 1'],
];

const forbidden104: readonly (readonly [string, object, object, string])[] = [
  ['SMS', {}, { Sender: 'nobody' }, 'Invalid sender format'],
  ['SMS', { SendTime: '2026-12-01T09:00' }, {}, 'Invalid SendTime. Expected dd/mm/yyyy HH:mm'],
  ['SMS', { TimeZone: 'Pacific/Auckland' }, {}, 'Invalid TimeZone'],
  ['SMS', {}, { APIVersion: '2.02' }, 'Invalid APIVersion'],
  ['Voice', { Keypads: { Tone: 1, RouteNumber: '649' } }, {}, 'Keypads must be a list'],
  ['SMS', { ForceGSMChars: 1 }, {}, 'ForceGSMChars must be true or false'],
  ['Voice', { Keypads: [{ Tone: 10, RouteNumber: '649' }] }, {}, 'Tone must be between 0~9'],
  ['Voice', { Keypads: [{ Tone: 0, RouteNumber: '649' }] }, {}, 'Tone must be between 1~9'],
  ['Voice', { Keypads: [{ Tone: 1, RouteNumber: 'me' }] }, {}, 'Invalid RouteNumber format on keypad 1'],
  ['Voice', { NumberOfOperators: 'many' }, {}, 'NumberOfOperators must be a whole number'],
  ['Voice', { CallerID: 'Acme' }, {}, 'Invalid CallerID format'],
  ['Voice', { MessageToPeople: '<wav>' }, {}, 'MessageToPeople must be base64'],
  ['Voice', { MessageToPeople: base64 }, {}, 'MessageToPeople must be WAV audio, 16-bit, 8000 Hz'],
  [
    'Voice',
    { MessageToAnswerphones: audio({ sampleRate: 16_000 }) },
    {},
    'MessageToAnswerphones must be WAV',
  ],
  ['Voice', { CallRouteMessageToPeople: audio({ bits: 8 }) }, {}, 'CallRouteMessageToPeople must be WAV'],
  ['Voice', { MessageToPeople: audio({ format: 7 }) }, {}, 'MessageToPeople must be WAV'],
  ['SMS', {}, { APIVersion: undefined }, 'Missing APIVersion'],
  ['SMS', { Destinations: ['6493001234', 6493001235] }, {}, 'Invalid destination 2'],
  ['Voice', { CallerID: '+123' }, {}, 'Invalid CallerID format'],
  [
    'Voice',
    { Keypads: [3, 3].map((Tone) => ({ Tone, RouteNumber: '+6493001234' })) },
    {},
    'Repeated tone on keypad 2',
  ],
  ['Voice', { Keypads: ['1'] }, {}, 'Invalid keypad 1'],
];

describe('values that the document forbids', () => {
  test('a forbidden value in version 2.02 is answered 400 with its name and the MessageID, and 200 by a lenient sandbox', async () => {
    await using sandbox = await startTestSandbox();
    await using lenient = await startTestSandbox({ lenient: true });
    for (const [channel, changes, words] of forbidden202) {
      const { status, text } = await send202(sandbox, channel, changes);
      expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(words) });
      expect(JSON.parse(text)).toMatchObject({ Result: 'Failed', MessageID: expect.any(String) });
      expect(await send202(lenient, channel, changes)).toMatchObject({ status: 200 });
    }
  });

  test('a request without a required part is answered 400 by a lenient sandbox too', async () => {
    await using sandbox = await startTestSandbox();
    await using lenient = await startTestSandbox({ lenient: true });
    for (const each of [sandbox, lenient]) {
      for (const [channel, changes, words] of required202) {
        const { status, text } = await send202(each, channel, changes);
        expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(words) });
      }
      const nothingToSay = { MessageToPeople: '', Keypads: [{ Tone: '', RouteNumber: '' }] };
      for (const type of ['Voice', 'TextToSpeech']) {
        expect(await send104(each, type, nothingToSay)).toMatchObject({
          status: 400,
          text: expect.stringContaining(
            'Missing message to people; Missing tone on keypad 1; Missing RouteNumber/Play on keypad 1',
          ),
        });
      }
    }
  });

  test('a forbidden value in the earlier versions is answered 400', async () => {
    await using sandbox = await startTestSandbox();
    await using lenient = await startTestSandbox({ lenient: true });
    for (const [type, changes, envelope, words] of forbidden104) {
      const { status, text } = await send104(sandbox, type, changes, envelope);
      expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(words) });
      expect(await send104(lenient, type, changes, envelope)).toMatchObject({ status: 200 });
    }
  });

  test('valid, blank and merely unobserved values are accepted', async () => {
    await using sandbox = await startTestSandbox();
    const right: readonly (readonly [Channel, object])[] = [
      ['sms', { MessageID: 'a'.repeat(40), Reference: 'r'.repeat(80), WebhookCallbackFormat: 'XML' }],
      ['sms', { SendTime: '2026-12-01T09:00:30', TimeZone: 'Pacific/Auckland', CharacterConversion: false }],
      ['sms', { SendTime: '', TimeZone: '', CharacterConversion: '', Reference: '', SubAccount: '' }],
      ['sms', { TimeZone: 'New Zealand', Zebra: 1, SubAccount: 's'.repeat(41) }],
      ['sms', { Destinations: [{ Recipient: 'me' }, { Recipient: '021 123 4567' }] }],
      ['fax', { Resolution: 'Fine', RetryAttempts: 9, RetryPeriod: '61' }],
      ['fax', { Message: '', Files: [{ Name: 'a.pdf', Data: `${base64}\n` }] }],
      ['email', { MessagePlain: '', MessageHTML: 'x', WebhookCallbackURL: 'http://127.0.0.1:8080/x' }],
      ['email', { MessagePlain: '', Template: 'x', WebhookCallbackURL: 'http://localhost/x' }],
    ];
    for (const [channel, changes] of right) {
      expect(await send202(sandbox, channel, changes)).toMatchObject({ status: 200 });
    }
    const voice = { NumberOfOperators: '0', Keypads: [{ Tone: 9, RouteNumber: '+64 9 300 1234' }] };
    expect(await send104(sandbox, 'Voice', voice)).toMatchObject({ status: 200 });
    const earlier = { SendTime: '01/12/2026 09:00', TimeZone: 'New Zealand', SendMode: 'Anything' };
    expect(await send104(sandbox, 'SMS', earlier)).toMatchObject({ status: 200 });
  });
});

test('SOAP answers a list that is no base64, a repeated part, and a number that is none, with a fault', async () => {
  await using sandbox = await startTestSandbox();
  const ask = (parts: string) =>
    post(
      sandbox.url,
      `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><send_tts><sender>user@example.com</sender><token>x</token><msg_to_people>Hello</msg_to_people>${parts}</send_tts></s:Body></s:Envelope>`,
      { 'Content-Type': 'text/xml', SOAPAction: '"SendTTSService#send_tts"' },
    );
  const numbers = '<phone_numbers>+6493001234</phone_numbers>';
  expect(await ask(numbers)).toMatchObject({ status: 200 });
  const refused: readonly (readonly [string, string])[] = [
    [`${numbers}<csv_file>***</csv_file>`, 'csv_file must be base64'],
    ['<csv_file>***</csv_file>', 'Missing or empty destinations'],
    [`${numbers}<reference><x>1</x></reference>`, 'reference must be text'],
    [`${numbers}<voice>a</voice><voice>b</voice>`, 'voice must be text'],
    ['<phone_numbers>+123</phone_numbers>', 'Could not find any valid destination'],
  ];
  for (const [parts, words] of refused)
    expect(await ask(parts)).toMatchObject({ status: 500, text: expect.stringContaining(words) });
});

describe('XML in version 2.02', () => {
  const message = (root: string) =>
    `<${root}><MessageData><MessageID>V1</MessageID><Message>x</Message><Destinations><Destination><Recipient>+64211234567</Recipient></Destination></Destinations></MessageData></${root}>`;

  test('XML needs both of its headers and its root element, and is answered in XML', async () => {
    await using sandbox = await startTestSandbox();
    const path = `${sandbox.url}/api/v2.02/send/sms`;
    const { Accept: _, ...withoutAccept } = xml;
    const { 'Content-Type': __, ...withoutType } = xml;
    const answers = [
      await post(path, message('SMSRequest'), xml),
      await post(path, message('SMSRequest'), withoutAccept),
      await post(path, message('SMSRequest'), { ...withoutType, 'Content-Type': 'text/plain' }),
      await post(path, message('FaxRequest'), xml),
    ];
    const refused = (words: string) => ({
      status: 400,
      type: 'application/xml; charset=utf-8',
      text: expect.stringMatching(`<Result>Failed</Result><MessageID>V1</MessageID><ErrorMessage>.*${words}`),
    });
    expect(answers).toEqual([
      expect.objectContaining({ status: 200 }),
      refused('Missing or invalid Accept header'),
      refused('Missing or invalid Content-Type header'),
      refused('Invalid root element FaxRequest. Expected SMSRequest'),
    ]);
  });

  test('XML answers elements in place of texts, repeated fields and files without data with a failure', async () => {
    await using sandbox = await startTestSandbox();
    const refused: readonly (readonly [string, string])[] = [
      ['<Reference><x>1</x></Reference>', 'Reference must be text'],
      ['<Reference>a</Reference><Reference>b</Reference>', 'Reference must be text'],
      ['<Files><File><Name>a.pdf</Name></File></Files>', 'Missing file data on file 1'],
      ['<Files><File>a.pdf</File></Files>', 'Invalid file 1'],
    ];
    for (const [elements, words] of refused) {
      const body = message('SMSRequest').replace('<Message>', `${elements}<Message>`);
      expect(await post(`${sandbox.url}/api/v2.02/send/sms`, body, xml)).toMatchObject({
        status: 400,
        text: expect.stringContaining(words),
      });
    }
  });

  test('XML must have its recipients in one element, unlike the earlier versions', async () => {
    await using sandbox = await startTestSandbox();
    const earlier = message('SMSRequest').replace(/<Destination>(.*)<\/Destination>/, '$1');
    expect(await post(`${sandbox.url}/api/v2.02/send/sms`, earlier, xml)).toMatchObject({
      status: 400,
      text: expect.stringContaining('Destinations must be one element that contains Destination'),
    });
  });
});

test('an unknown path is answered with a failure in the requested format', async () => {
  await using sandbox = await startTestSandbox();
  const words = 'There is no GET /api/v2.02/send/voice';
  const path = `${sandbox.url}/api/v2.02/send/voice`;
  expect(await get(path)).toEqual({
    status: 404,
    type: 'application/json; charset=utf-8',
    text: JSON.stringify({ Result: 'Failed', ErrorMessage: [words] }),
  });
  expect(await get(path, { Accept: 'application/xml' })).toEqual({
    status: 404,
    type: 'application/xml; charset=utf-8',
    text: expect.stringContaining(
      `<root><Result>Failed</Result><ErrorMessage>${words}</ErrorMessage></root>`,
    ),
  });
  expect(await get(`${sandbox.url}/api/xml/status/`)).toMatchObject({
    text: expect.stringContaining('<Message>There is no GET /api/xml/status/</Message>'),
  });
});
