import { describe, expect, test } from 'vitest';
import type { SendRequest } from '../../src/domain/message.ts';
import { wireInterface } from '../../src/wire/interfaces.ts';
import type { WireInterface } from '../../src/wire/wire-interface.ts';
import { credentialsFor } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';

/** The exact headers and bytes of interface.md, section 4. */

const rest202Json = wireInterface('rest-2.02', 'json');
const rest202Xml = wireInterface('rest-2.02', 'xml');
const rest104Json = wireInterface('rest-1.04', 'json');
const rest102Xml = wireInterface('rest-1.02', 'xml');
const soapTts = wireInterface('soap-tts', 'xml');

const sms: SendRequest = {
  channel: 'sms',
  messageId: 'V0001',
  fields: {
    CharacterConversion: 'true',
    Message: 'Kia ora [[First Name]]',
    Reference: '007',
    SendTime: '2026-11-21T18:30',
    TimeZone: 'Pacific/Auckland',
  },
  destinations: [{ Recipient: '+64211234567', 'First Name': 'Ana', Custom2: '0042' }],
  files: [{ Name: 'a.pdf', Data: 'QUJD' }],
  keypads: [],
};

const earlierSms: SendRequest = {
  ...sms,
  destinations: [
    { Recipient: '+64211234567' },
    { Recipient: '+6495005000', Attention: 'Ana', Custom2: '0042' },
  ],
};

const tts: SendRequest = {
  channel: 'tts',
  messageId: 'V0002',
  fields: {
    MessageToPeople: 'Power is off',
    NumberOfOperators: '3',
    RetryAttempts: '2',
    CallerID: '+6495005000',
  },
  destinations: [{ Recipient: '+64211234567' }, { Recipient: '+64217654321' }],
  files: [],
  keypads: [{ Tone: '1', RouteNumber: '+6495005001' }],
};

function encode(wire: WireInterface, request: SendRequest) {
  const { method, path, headers, body } = wire.encodeSendRequest(
    outgoing(request),
    credentialsFor(wire.name),
  );
  return { to: `${method} ${path}`, headers, body };
}

describe('encodeSendRequest of version 2.02', () => {
  test('a request is written in JSON', () => {
    const { to, headers, body } = encode(rest202Json, sms);
    expect(to).toBe('POST /api/v2.02/send/sms');
    expect(headers).toEqual({
      'Content-Type': "application/json; encoding='utf-8'",
      Accept: "application/json; encoding='utf-8'",
      Authorization: 'Basic secret-of-the-test',
    });
    expect(body).toBe(
      '{"MessageData":{"MessageID":"V0001","Reference":"007","SendTime":"2026-11-21T18:30",' +
        '"TimeZone":"Pacific/Auckland","Message":"Kia ora [[First Name]]","CharacterConversion":true,' +
        '"Destinations":[{"Recipient":"+64211234567","First Name":"Ana","Custom2":"0042"}],' +
        '"Files":[{"Name":"a.pdf","Data":"QUJD"}]}}',
    );
  });

  test('a value of a closed list is written in the case of the document, and any other unchanged', () => {
    const fields = { Message: 'x', WebhookCallbackFormat: 'json', SendMode: 'Test' };
    expect(encode(rest202Json, { ...sms, fields, files: [] }).body).toContain(
      '"WebhookCallbackFormat":"JSON","Mode":"Test"',
    );
    const fax = { Message: 'x', Resolution: 'hIGH' };
    expect(encode(rest202Xml, { ...sms, channel: 'fax', fields: fax }).body).toContain(
      '<Resolution>High</Resolution>',
    );
    const fine = { Message: 'x', Resolution: 'fine' };
    expect(encode(rest202Xml, { ...sms, channel: 'fax', fields: fine }).body).toContain(
      '<Resolution>fine</Resolution>',
    );
  });

  test('XML has both headers, the root element of its channel and no space in FirstName', () => {
    const { to, headers, body } = encode(rest202Xml, sms);
    expect(to).toBe('POST /api/v2.02/send/sms');
    expect(headers).toEqual({
      'Content-Type': "application/xml; encoding='utf-8'",
      Accept: "application/xml; encoding='utf-8'",
      Authorization: 'Basic secret-of-the-test',
    });
    expect(body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><SMSRequest><MessageData><MessageID>V0001</MessageID>' +
        '<Reference>007</Reference><SendTime>2026-11-21T18:30</SendTime><TimeZone>Pacific/Auckland</TimeZone>' +
        '<Message>Kia ora [[First Name]]</Message><CharacterConversion>true</CharacterConversion>' +
        '<Destinations><Destination><Recipient>+64211234567</Recipient><FirstName>Ana</FirstName>' +
        '<Custom2>0042</Custom2></Destination></Destinations>' +
        '<Files><File><Name>a.pdf</Name><Data>QUJD</Data></File></Files></MessageData></SMSRequest>',
    );
  });

  test.each([
    ['email', 'EmailRequest', { MessagePlain: 'x' }],
    ['fax', 'FaxRequest', { Message: 'x' }],
  ] as const)('the XML of %s has the root element %s', (channel, root, fields) => {
    const { body } = encode(rest202Xml, { ...sms, channel, fields });
    expect(body).toContain(`?><${root}><MessageData>`);
    expect(body.endsWith(`</MessageData></${root}>`)).toBe(true);
  });

  test('HTML in XML is CDATA, also across the end of CDATA inside it', () => {
    const html = '<p>a & b</p> ]]> "';
    const { body } = encode(rest202Xml, { ...sms, channel: 'email', fields: { MessageHTML: html } });
    expect(body).toContain('<MessageHTML><![CDATA[<p>a & b</p> ]]]]><![CDATA[> "]]></MessageHTML>');
  });

  test('HTML with a carriage return is escaped, because CDATA cannot keep one', () => {
    const { body } = encode(rest202Xml, { ...sms, channel: 'email', fields: { MessageHTML: '<p>\r\n' } });
    expect(body).toContain('<MessageHTML>&lt;p&gt;&#13;\n</MessageHTML>');
  });

  test('whole numbers are written as numbers', () => {
    const fields = { RetryAttempts: '3', CSID: '0800' };
    expect(encode(rest202Json, { ...sms, channel: 'fax', fields }).body).toContain(
      '"CSID":"0800","RetryAttempts":3,',
    );
  });
});

describe('encodeSendRequest of earlier versions', () => {
  test('JSON has sender and key in the body, numbers without a plus sign, and recipients as plain text', () => {
    const { to, headers, body } = encode(rest104Json, earlierSms);
    expect(to).toBe('POST /api/json/send/');
    expect(headers).toEqual({ 'Content-Type': "application/json; encoding='utf-8'" });
    expect(body).toBe(
      '{"Sender":"user@example.com","APIKey":"secret-of-the-test","MessageType":"SMS","APIVersion":"1.04",' +
        '"MessageID":"V0001","MessageData":{"Reference":"007","SendTime":"21/11/2026 18:30",' +
        '"TimeZone":"New Zealand","Message":"Kia ora [[First Name]]","ForceGSMChars":true,' +
        '"Destinations":["64211234567",{"Recipient":"6495005000","Attention":"Ana","Custom2":"0042"}],' +
        '"Files":[{"Name":"a.pdf","Data":"QUJD"}]}}',
    );
  });

  test('XML has the element root, and repeats Destinations and Files', () => {
    const { to, headers, body } = encode(rest102Xml, earlierSms);
    expect(to).toBe('POST /api/xml/send/');
    expect(headers).toEqual({ 'Content-Type': "text/xml; encoding='utf-8'" });
    expect(body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><root><Sender>user@example.com</Sender>' +
        '<APIKey>secret-of-the-test</APIKey><MessageType>SMS</MessageType><APIVersion>1.02</APIVersion>' +
        '<MessageID>V0001</MessageID><MessageData><Reference>007</Reference>' +
        '<SendTime>21/11/2026 18:30</SendTime><TimeZone>New Zealand</TimeZone>' +
        '<Message>Kia ora [[First Name]]</Message><ForceGSMChars>true</ForceGSMChars>' +
        '<Destinations>64211234567</Destinations>' +
        '<Destinations><Recipient>6495005000</Recipient><Attention>Ana</Attention><Custom2>0042</Custom2></Destinations>' +
        '<Files><Name>a.pdf</Name><Data>QUJD</Data></Files></MessageData></root>',
    );
  });

  test('keypads are a list of tone and number, and the number of operators is text as in the samples', () => {
    const data = JSON.parse(encode(rest104Json, tts).body).MessageData;
    expect(data.Keypads).toEqual([{ Tone: 1, RouteNumber: '+6495005001' }]);
    expect(data).toMatchObject({ NumberOfOperators: '3', RetryAttempts: 2 });
    expect(encode(rest102Xml, tts).body).toContain(
      '<Keypads><Tone>1</Tone><RouteNumber>+6495005001</RouteNumber></Keypads>',
    );
  });

  test.each([
    ['email', 'Email', { MessagePlain: 'x' }],
    ['fax', 'Fax', { Message: 'x' }],
    ['voice', 'Voice', { MessageToPeople: 'UklGRg==' }],
    ['tts', 'TextToSpeech', { MessageToPeople: 'x' }],
  ] as const)('the MessageType of %s is %s', (channel, messageType, fields) => {
    const { body } = encode(rest104Json, { ...tts, channel, fields, keypads: [] });
    expect(JSON.parse(body)).toMatchObject({ MessageType: messageType });
  });

  test('SendMode requests a simulated send', () => {
    const { body } = encode(rest104Json, { ...tts, fields: { MessageToPeople: 'x', SendMode: 'Test' } });
    expect(JSON.parse(body).MessageData).toMatchObject({ SendMode: 'Test' });
  });
});

describe('encodeSendRequest of SOAP', () => {
  test('the action is a header, the parts are in the order of the interface, and the MessageID is in the SOAP header', () => {
    const { to, headers, body } = encode(soapTts, tts);
    expect(to).toBe('POST ');
    expect(headers).toEqual({
      'Content-Type': 'text/xml; charset=utf-8',
      SOAPAction: '"SendTTSService#send_tts"',
    });
    expect(body).toBe(
      '<?xml version="1.0" encoding="UTF-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"' +
        ' xmlns:tns="urn:SendTTSService"><soap:Header>' +
        '<wsa:MessageID xmlns:wsa="http://www.w3.org/2005/08/addressing">urn:volley:V0002</wsa:MessageID>' +
        '</soap:Header><soap:Body><tns:send_tts><sender>user@example.com</sender>' +
        '<token>secret-of-the-test</token><caller_id>+6495005000</caller_id><reference>V0002</reference>' +
        '<number_of_operators>3</number_of_operators><retry_attempts>2</retry_attempts>' +
        '<phone_numbers>64211234567,64217654321</phone_numbers>' +
        '<msg_to_people>Power is off</msg_to_people><keypad_1_enabled>true</keypad_1_enabled>' +
        '<keypad_1_route_number>+6495005001</keypad_1_route_number></tns:send_tts></soap:Body></soap:Envelope>',
    );
  });

  test("the campaign's own Reference takes precedence over the MessageID", () => {
    const { body } = encode(soapTts, { ...tts, fields: { ...tts.fields, Reference: 'mine' } });
    expect(body).toContain('<reference>mine</reference>');
  });

  test('recipients with more fields than a number become a CSV file', () => {
    const destinations = [
      { Recipient: '+64211234567', Attention: 'Ana "A"\nB' },
      { Recipient: '+64217654321' },
    ];
    const { body } = encode(soapTts, { ...tts, destinations });
    const [, base64 = ''] = /<csv_file>(.*)<\/csv_file>/.exec(body) ?? [];
    expect(Buffer.from(base64, 'base64').toString()).toBe(
      '"Recipient","Attention"\n"64211234567","Ana ""A""\nB"\n"64217654321",\n',
    );
    expect(body).not.toContain('phone_numbers');
  });

  test('times are written as in the earlier REST versions', () => {
    const fields = { ...tts.fields, SendTime: '2026-11-21T18:30', EndTime: '2026-11-21T20:00:00' };
    const { body } = encode(soapTts, { ...tts, fields });
    expect(body).toContain('<sendtime>21/11/2026 18:30</sendtime><endtime>21/11/2026 20:00</endtime>');
  });
});

describe('encodeSendRequest: refusals', () => {
  const write = (wire: WireInterface, changes: Partial<SendRequest>) => () =>
    encode(wire, { ...sms, ...changes });

  test('a channel that the interface does not have is refused', () => {
    expect(write(rest202Json, { channel: 'tts' })).toThrow(
      'rest-2.02 has no channel tts; it has email, sms, fax',
    );
    expect(write(soapTts, {})).toThrow('soap-tts has no channel sms');
  });

  test('a field that the interface does not have is refused', () => {
    expect(write(rest202Json, { fields: { EmailSubject: 'x' } })).toThrow(
      'rest-2.02 has no field EmailSubject for sms',
    );
  });

  test('a destination field that the interface does not have is refused', () => {
    expect(write(rest104Json, {})).toThrow('rest-1.04 has no destination field First Name');
    expect(write(rest102Xml, {})).toThrow('rest-1.02 has no destination field First Name');
  });

  test('files and keypads that the interface does not have are refused', () => {
    expect(write(rest104Json, { ...tts, files: sms.files })).toThrow('rest-1.04 has no Files for tts');
    expect(write(rest202Json, { keypads: tts.keypads })).toThrow('rest-2.02 has no Keypads for sms');
    expect(write(rest104Json, { ...tts, keypads: [{ Tone: '0', RouteNumber: '1' }] })).toThrow(
      'Tone must be a button from 1 to 9, got "0"',
    );
  });

  test('a value of another type is refused', () => {
    expect(write(rest202Json, { fields: { CharacterConversion: 'yes' } })).toThrow(
      'true or false, got "yes"',
    );
    expect(write(rest202Json, { channel: 'fax', fields: { RetryPeriod: '1.5' } })).toThrow('a whole number');
    expect(write(rest202Json, { fields: { SendTime: '2026-02-30T10:00' } })).toThrow('a date and time');
    expect(write(rest104Json, { fields: { SendTime: '2026-02-20T10:00:30' } })).toThrow('without seconds');
    expect(write(rest104Json, { fields: { TimeZone: 'Mars/Olympus' } })).toThrow('a time zone');
    expect(write(rest104Json, { fields: { TimeZone: 'America/Ciudad_Juarez' } })).toThrow('Windows zones');
  });

  test('a MessageID that is too long, or has characters other than letters and digits, is refused', () => {
    expect(write(rest202Json, { messageId: 'a'.repeat(41) })).toThrow(
      'MessageID must be 1 to 40 letters and digits',
    );
    expect(write(rest202Xml, { messageId: 'a-b' })).toThrow('MessageID must be 1 to 40 letters and digits');
    expect(write(rest202Json, { messageId: 'a'.repeat(40) })).not.toThrow();
  });

  test('text that XML cannot carry is refused', () => {
    expect(write(rest202Xml, { fields: { Message: 'ding\u0007' } })).toThrow(
      'cannot carry the character U+0007',
    );
    expect(write(rest202Xml, { fields: { Message: '\ud83d' } })).toThrow('cannot carry the character U+D83D');
    expect(write(rest202Json, { fields: { Message: 'ding\u0007' } })).not.toThrow();
  });

  test('a number that could not be read back unchanged is refused', () => {
    for (const Recipient of ['64211234567', '+0123456789', '+123456', '+64 21 123', '', 'a,b']) {
      expect(write(rest104Json, { destinations: [{ Recipient }] })).toThrow('telephone numbers in E.164');
      expect(write(soapTts, { ...tts, destinations: [{ Recipient }] })).toThrow('telephone numbers in E.164');
      expect(write(rest202Json, { destinations: [{ Recipient }] })).not.toThrow();
    }
  });

  test('credentials of another kind are refused', () => {
    const request = outgoing({ ...sms, destinations: [] });
    expect(() => rest202Json.encodeSendRequest(request, credentialsFor('rest-1.04'))).toThrow(
      'an auth token',
    );
    expect(() => rest104Json.encodeSendRequest(request, credentialsFor('rest-2.02'))).toThrow('an API key');
    expect(() => soapTts.encodeSendRequest(outgoing(tts), credentialsFor('rest-2.02'))).toThrow(
      'a sender and a token',
    );
  });
});
