import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encodeSendAnswer } from '../../src/wire/answer-members.ts';
import { wireInterface, wireInterfaces } from '../../src/wire/interfaces.ts';
import type { AnswerStyle, OutgoingAnswer } from '../../src/wire/wire-interface.ts';

type Decode = (body: string) => unknown;

const reader =
  (...which: Parameters<typeof wireInterface>): Decode =>
  (body) =>
    wireInterface(...which).decodeSendAnswer(Buffer.from(body));

const decode = reader('rest-2.02', 'json');
const decodeEarlier = reader('rest-1.02', 'xml');
const decodeSoap = reader('soap-tts', 'xml');

describe('decodeSendAnswer', () => {
  test('a success is read with its MessageID', () => {
    expect(decode('{"Result":"Success","MessageID":"V1"}')).toEqual({ kind: 'success', messageId: 'V1' });
    expect(decode('{"Result":"SUCCESS"}')).toEqual({ kind: 'success' });
  });

  test('a failure is read with its reasons, as a list, as a text, or under the earlier name', () => {
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
    expect(decode('{"Result":"Unauthorized","ErrorMessage":[]}')).toEqual({
      kind: 'unauthorized',
      words: [],
    });
    expect(decode('{"Result":"Failed","ErrorMessage":"","Message":"why"}')).toMatchObject({ words: ['why'] });
  });

  test('XML is read with any root, one or several error elements, CDATA, and leading zeros', () => {
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

  test('reasons in nested elements are read', () => {
    expect(
      decode(
        '<root><Result>Failed</Result><ErrorMessage><string>a</string><string>b</string></ErrorMessage></root>',
      ),
    ).toEqual({ kind: 'failure', words: ['a', 'b'] });
  });

  test('surrounding white space is ignored', () => {
    expect(decode('\n<root>\n <Result> Success </Result>\n <MessageID>\n V1 </MessageID>\n</root>')).toEqual({
      kind: 'success',
      messageId: 'V1',
    });
  });

  test('reasons that are not text are dropped, and their number is limited', () => {
    const words = ['a'.repeat(1000), null, {}, ...Array.from({ length: 50 }, () => 'b')];
    const decoded = decode(JSON.stringify({ Result: 'Failed', ErrorMessage: words }));
    expect(decoded).toMatchObject({
      kind: 'failure',
      words: ['a'.repeat(500), ...Array.from({ length: 17 }, () => 'b')],
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
  ])('the body %j is unreadable', (body) => {
    expect(decode(body)).toMatchObject({ kind: 'unreadable', why: expect.any(String) });
  });

  test('no bytes throw', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        for (const wire of wireInterfaces) {
          expect(wire.decodeSendAnswer(bytes)).toMatchObject({ kind: 'unreadable' });
        }
      }),
    );
  });
});

const envelope = (body: string): string =>
  `<?xml version="1.0"?><S:Envelope xmlns:S="urn:s"><S:Body>${body}</S:Body></S:Envelope>`;
const returned = (text: string): string =>
  envelope(
    `<n:ttsResponse xmlns:n="urn:n"><ttsReturn xsi:type="xsd:string">${text}</ttsReturn></n:ttsResponse>`,
  );

describe('decodeSendAnswer of earlier versions', () => {
  test('a job number in plain text is a success', () => {
    for (const body of ['Job 12345678', ' job #12AB\n', '"Job 12345678"', 'Job ABCDEF1']) {
      expect(decodeEarlier(body)).toMatchObject({
        kind: 'unnamed_success',
        jobNumber: expect.stringMatching(/^(12|ABC)/),
      });
    }
  });

  test('a text with more, or less, than a job number is not a success', () => {
    for (const body of ['Job', 'Job 12 failed', 'No Job 12', '{"Job":"12"}', 'Job 12\nJob 13']) {
      expect(decodeEarlier(body)).toMatchObject({ kind: 'unreadable' });
    }
  });

  test('a sentence or a page is not a job number', () => {
    for (const body of ['Job failed', '"Job error"', 'Job rejected', 'Job none', 'Job -1', 'Job ---']) {
      expect(decodeEarlier(body)).toMatchObject({ kind: 'unreadable' });
      expect(decodeSoap(returned(body))).toMatchObject({ kind: 'unreadable' });
    }
    for (const body of ['<error>Job failed</error>', '<html>Job 404</html>']) {
      expect(decodeEarlier(body)).toMatchObject({ kind: 'unreadable' });
    }
  });

  test('errors are read from Message', () => {
    expect(decodeEarlier('<root><Result>Failed</Result><Message>Missing Sender</Message></root>')).toEqual({
      kind: 'failure',
      words: ['Missing Sender'],
    });
  });

  test('a job number is accepted from earlier versions only, because 2.02 names the MessageID', () => {
    expect(decode('Job 12345678')).toMatchObject({ kind: 'unreadable' });
  });
});

describe('decodeSendAnswer of SOAP', () => {
  test('the job number is read from ttsReturn', () => {
    expect(decodeSoap(returned('Job 12345678'))).toEqual({ kind: 'unnamed_success', jobNumber: '12345678' });
  });

  test('the word Success alone in ttsReturn is a success, and with further text it is not', () => {
    for (const word of ['Success', 'success.', 'SUCCESS!']) {
      expect(decodeSoap(returned(word))).toEqual({ kind: 'unnamed_success' });
    }
    for (const text of [
      'Success: false',
      'Success=0',
      'success false: bad token',
      'Success 0 of 12 calls queued',
    ]) {
      expect(decodeSoap(returned(text))).toMatchObject({ kind: 'unreadable' });
    }
    expect(decodeSoap(returned('No success'))).toMatchObject({ kind: 'unreadable' });
  });

  test('an answer of the REST interfaces in ttsReturn is read', () => {
    expect(decodeSoap(returned('{"Result":"Success","MessageID":"V1"}'))).toEqual({
      kind: 'success',
      messageId: 'V1',
    });
    expect(
      decodeSoap(
        returned(
          '&lt;root&gt;&lt;Result&gt;Failed&lt;/Result&gt;&lt;Message&gt;No&lt;/Message&gt;&lt;/root&gt;',
        ),
      ),
    ).toEqual({ kind: 'failure', words: ['No'] });
  });

  test('a ttsReturn that names a missing or invalid part is a failure', () => {
    for (const text of ['Missing message to people', 'Invalid sender format', 'Failed']) {
      expect(decodeSoap(returned(text))).toEqual({ kind: 'failure', words: [text] });
    }
  });

  test('a ttsReturn that reports an error is unreadable, because the calls may have been queued', () => {
    for (const text of [
      'Error occurred while creating job',
      'Error: timeout',
      'Nothing is missing',
      'Failed over',
    ]) {
      expect(decodeSoap(returned(text))).toMatchObject({ kind: 'unreadable' });
    }
  });

  test('a refused credential is read', () => {
    for (const text of ['Invalid token', 'invalid auth token', 'Unauthorized: who?']) {
      expect(decodeSoap(returned(text))).toEqual({ kind: 'unauthorized', words: [text] });
    }
  });

  test('any other ttsReturn is unreadable, and its text is kept', () => {
    expect(decodeSoap(returned('Thank you'))).toEqual({
      kind: 'unreadable',
      why: 'ttsReturn says "Thank you"',
    });
    expect(decodeSoap(returned(''))).toMatchObject({ kind: 'unreadable' });
    expect(decodeSoap(envelope('<x/>'))).toEqual({ kind: 'unreadable', why: 'the answer has no ttsReturn' });
  });

  test('a fault of the sender is distinguished from one of the service, in SOAP 1.1 and 1.2', () => {
    const fault11 = (code: string): string =>
      envelope(
        `<S:Fault><faultcode>${code}</faultcode><faultstring>No</faultstring><detail>d</detail></S:Fault>`,
      );
    expect(decodeSoap(fault11('S:Client'))).toEqual({ kind: 'fault', origin: 'sender', words: ['No', 'd'] });
    expect(decodeSoap(fault11('S:Server'))).toEqual({ kind: 'fault', origin: 'service', words: ['No', 'd'] });
    expect(decodeSoap(fault11(''))).toMatchObject({ kind: 'fault', origin: 'service' });
    for (const code of ['S:Client.Authentication', 'wsse:FailedAuthentication']) {
      expect(decodeSoap(fault11(code))).toMatchObject({ kind: 'fault', origin: 'credential' });
    }
    const fault12 =
      '<S:Fault><S:Code><S:Value>S:Sender</S:Value></S:Code><S:Reason><S:Text xml:lang="en">No</S:Text></S:Reason></S:Fault>';
    expect(decodeSoap(envelope(fault12))).toEqual({ kind: 'fault', origin: 'sender', words: ['No'] });
  });

  test('an answer without SOAP is read as REST', () => {
    expect(decodeSoap('{"Result":"Unauthorized","ErrorMessage":["No"]}')).toEqual({
      kind: 'unauthorized',
      words: ['No'],
    });
  });
});

describe('encodeSendAnswer', () => {
  const rest202: AnswerStyle = { interface: 'rest-2.02', format: 'json', channel: 'sms' };
  const soap: AnswerStyle = { interface: 'soap-tts', format: 'xml', channel: 'tts' };
  const accepted = { kind: 'accepted', messageId: 'V1', jobNumber: '12AB34CD' } as const;
  const refused = { kind: 'refused', words: ['Missing or empty destinations'], messageId: 'V1' } as const;
  const written = (answer: OutgoingAnswer, style: AnswerStyle): readonly [number, string] => {
    const { status, body } = encodeSendAnswer(answer, style);
    return [status, body.toString()];
  };

  test('a success has status 200', () => {
    expect(written(accepted, rest202)).toEqual([200, '{"Result":"Success","MessageID":"V1"}']);
  });

  test('a refusal has status 400 and the MessageID, with a list for email, and one text for SMS and fax', () => {
    expect(written(refused, { ...rest202, channel: 'email' })).toEqual([
      400,
      '{"Result":"Failed","MessageID":"V1","ErrorMessage":["Missing or empty destinations"]}',
    ]);
    for (const channel of ['sms', 'fax'] as const) {
      expect(written(refused, { ...rest202, channel })).toEqual([
        400,
        '{"Result":"Failed","MessageID":"V1","ErrorMessage":"Missing or empty destinations"}',
      ]);
    }
  });

  test('a wrong token is 401, and a fault 500', () => {
    expect(written({ kind: 'unauthorized', words: ['No'] }, rest202)).toEqual([
      401,
      '{"Result":"Unauthorized","ErrorMessage":["No"]}',
    ]);
    const { channel: _, ...unknown } = rest202;
    expect(written({ kind: 'fault', words: ['Broken'], messageId: 'V1' }, unknown)).toEqual([
      500,
      '{"Result":"Failed","MessageID":"V1","ErrorMessage":["Broken"]}',
    ]);
  });

  test('XML has a root element, and earlier versions have Message', () => {
    const xml = '<?xml version="1.0" encoding="UTF-8"?>';
    expect(written(accepted, { ...rest202, format: 'xml' })).toEqual([
      200,
      `${xml}<root><Result>Success</Result><MessageID>V1</MessageID></root>`,
    ]);
    expect(written(refused, { ...rest202, interface: 'rest-1.02', format: 'xml' })).toEqual([
      400,
      `${xml}<root><Result>Failed</Result><MessageID>V1</MessageID><Message>Missing or empty destinations</Message></root>`,
    ]);
  });

  test('XML quotes a MessageID although it cannot carry all its characters', () => {
    const [, body] = written({ ...accepted, messageId: 'a\u0007b' }, { ...rest202, format: 'xml' });
    expect(body).toContain('<MessageID>a?b</MessageID>');
  });

  test('SOAP has ttsReturn or a fault, and is read back as that', () => {
    const read = (answer: OutgoingAnswer) => decodeSoap(written(answer, soap)[1]);
    expect(written(accepted, soap)[1]).toContain(
      '<tns:ttsResponse><ttsReturn>Job 12AB34CD</ttsReturn></tns:ttsResponse>',
    );
    expect(read(accepted)).toEqual({ kind: 'unnamed_success', jobNumber: '12AB34CD' });
    expect(read(refused)).toEqual({ kind: 'fault', origin: 'sender', words: refused.words });
    expect(read({ kind: 'fault', words: ['Broken'] })).toEqual({
      kind: 'fault',
      origin: 'service',
      words: ['Broken'],
    });
    expect([accepted, refused].map((answer) => written(answer, soap)[0])).toEqual([200, 500]);
    expect(written({ kind: 'unauthorized', words: ['No'] }, soap)[0]).toBe(401);
  });
});
