import { once } from 'node:events';
import { createServer } from 'node:http';
import * as soap from 'soap';
import { describe, expect, test } from 'vitest';
import type { SendRequest } from '../../src/domain/message.ts';
import type { Evidence } from '../../src/gateway/evidence.ts';
import { openGateway } from '../../src/gateway/gateway.ts';
import { wireInterface } from '../../src/wire/interfaces.ts';
import { soapParts } from '../../src/wire/soap-tts.ts';
import { encodeWsdl } from '../../src/wire/soap-wsdl.ts';
import type { SendAnswer } from '../../src/wire/wire-interface.ts';
import { startTestSandbox, type TestSandbox } from '../sandbox/start-test-sandbox.ts';
import { anAccount } from '../support/account.ts';
import { outgoing } from '../support/outgoing.ts';

/**
 * The client and the server of the npm package `soap`, generated from our WSDL, talk to our service and our
 * client.
 */

const hostile = ` ]]> <![CDATA[x]]> "quoted" 'too' &amp; &#13; <b>💸</b> line\r\nbreaks\n\rand\ttabs `;

/** Calls the sandbox's operation with these parts. */
async function call({ url }: TestSandbox, parts: Readonly<Record<string, string>>): Promise<unknown> {
  const client = await soap.createClientAsync(`${url}/soap?wsdl`, { disableCache: true });
  const [result]: unknown[] = await client['send_ttsAsync']({
    sender: 'user@example.com',
    token: 'secret-token',
    ...parts,
  });
  return result;
}

describe('a foreign SOAP client made from our WSDL', () => {
  test('the client sends to a list of numbers, and reads the job number from the answer', async () => {
    await using sandbox = await startTestSandbox();
    const parts = { phone_numbers: '64211234567,64211234568', msg_to_people: 'Hello' };
    expect(await call(sandbox, parts)).toEqual({
      ttsReturn: expect.stringMatching(/^Job [0-9A-F]{8}$/),
    });
    expect(await sandbox.journal()).toMatchObject([
      {
        interface: 'soap-tts',
        format: 'xml',
        channel: 'tts',
        recipients: ['+64211234567', '+64211234568'],
        status: 200,
        message: { fields: { MessageToPeople: 'Hello' }, destinations: [{}, {}] },
      },
    ]);
  });

  test('the client sends to the recipients of a CSV file, with their fields', async () => {
    await using sandbox = await startTestSandbox();
    const csv = 'Recipient,Company,Custom1\r\n64211234567,"Smith, ""Ltd""",💸\r\n64211234568,,\r\n';
    await call(sandbox, { csv_file: Buffer.from(csv).toString('base64'), msg_to_people: 'Hello' });
    expect(await sandbox.journal()).toMatchObject([
      {
        recipients: ['+64211234567', '+64211234568'],
        message: { destinations: [{ Company: 'Smith, "Ltd"', Custom1: '💸' }, {}] },
      },
    ]);
  });

  test('the client sends the enabled keypads', async () => {
    await using sandbox = await startTestSandbox();
    await call(sandbox, {
      phone_numbers: '64211234567',
      msg_to_people: 'Press 1',
      keypad_1_enabled: 'true',
      keypad_1_route_number: '6491234567',
      keypad_2_enabled: 'false',
      keypad_2_route_number: '6491234568',
      keypad_9_enabled: 'true',
      keypad_9_route_number: '6491234569',
    });
    expect((await sandbox.journal())[0]?.message?.keypads).toEqual([
      { Tone: '1', RouteNumber: '6491234567' },
      { Tone: '9', RouteNumber: '6491234569' },
    ]);
  });

  test('the client sends any text, and every field arrives under its name', async () => {
    await using sandbox = await startTestSandbox();
    await call(sandbox, {
      phone_numbers: '64211234567',
      caller_id: '6491234567',
      reference: 'R 1',
      billing_account: 'North',
      number_of_operators: '007',
      retry_attempts: '3',
      retry_period: '10',
      sendtime: '31/12/2026 23:59',
      endtime: '01/01/2027 08:00',
      voice: 'Nicole',
      msg_to_people: hostile,
      msg_to_answer_phones: `1${hostile}`,
      call_route_msg_to_operators: `2${hostile}`,
      call_route_msg_to_people: `3${hostile}`,
      call_route_msg_on_wrong_key: `4${hostile}`,
      options: '{"a":1}',
    });
    expect((await sandbox.journal())[0]?.message?.fields).toEqual({
      CallerID: '6491234567',
      Reference: 'R 1',
      ChargeCode: 'North',
      NumberOfOperators: '007',
      RetryAttempts: '3',
      RetryPeriod: '10',
      SendTime: '2026-12-31T23:59',
      EndTime: '2027-01-01T08:00',
      Voice: 'Nicole',
      MessageToPeople: hostile,
      MessageToAnswerphones: `1${hostile}`,
      CallRouteMessageToOperators: `2${hostile}`,
      CallRouteMessageToPeople: `3${hostile}`,
      CallRouteMessageOnWrongKey: `4${hostile}`,
      Options: '{"a":1}',
    });
  });

  test.each([
    ['a missing message', { phone_numbers: '64211234567' }, 'Missing message to people'],
    ['missing numbers', { msg_to_people: 'x' }, 'Missing or empty destinations'],
    ['a missing sender', { sender: '', phone_numbers: '1', msg_to_people: 'x' }, 'Missing Sender'],
  ])('the client understands the fault for %s', async (_, parts, words) => {
    await using sandbox = await startTestSandbox();
    await expect(call(sandbox, parts)).rejects.toMatchObject({
      response: { status: 500 },
      root: { Envelope: { Body: { Fault: { faultcode: 'soap:Client', faultstring: words } } } },
    });
  });

  test('the client understands the fault for a wrong token', async () => {
    await using sandbox = await startTestSandbox({ token: 'another' });
    const parts = { phone_numbers: '64211234567', msg_to_people: 'x' };
    await expect(call(sandbox, parts)).rejects.toMatchObject({ response: { status: 401 } });
    expect(await sandbox.journalText()).not.toContain('secret-token');
  });
});

type Peer = AsyncDisposable & { readonly url: string; readonly calls: unknown[] };

/** A SOAP server made from our WSDL. */
async function soapServer(answer: () => unknown): Promise<Peer> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/tts`;
  const calls: unknown[] = [];
  soap.listen(server, {
    path: '/tts',
    xml: encodeWsdl(url).body,
    suppressStack: true,
    services: {
      SendTTSService: {
        SendTTSPort: {
          send_tts(parts: unknown) {
            calls.push(parts);
            return answer();
          },
        },
      },
    },
  });
  return {
    url,
    calls,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Its server trims texts. */
const trimmedHostile = hostile.trim();

const message: SendRequest = {
  channel: 'tts',
  messageId: 'V1',
  fields: {
    CallerID: '+6491234567',
    ChargeCode: 'North & South',
    NumberOfOperators: '7',
    RetryAttempts: '3',
    RetryPeriod: '10',
    SendTime: '2026-12-31T23:59',
    EndTime: '2027-01-01T08:00',
    Voice: 'Nicole',
    MessageToPeople: trimmedHostile,
    MessageToAnswerphones: `1 ${trimmedHostile}`,
    CallRouteMessageToOperators: `2 ${trimmedHostile}`,
    CallRouteMessageToPeople: `3 ${trimmedHostile}`,
    CallRouteMessageOnWrongKey: `4 ${trimmedHostile}`,
    Options: '{"a":1}',
  },
  destinations: [{ Recipient: '+64211234567' }, { Recipient: '+64211234568' }],
  files: [],
  keypads: Array.from({ length: 9 }, (_, index) => ({
    Tone: String(index + 1),
    RouteNumber: `+649123456${index}`,
  })),
};

/** Sends through the real gateway. */
async function send(url: string, request: SendRequest): Promise<Evidence> {
  const credentials = { kind: 'senderToken', sender: 'user@example.com', token: 'secret <&> token' } as const;
  const gateway = openGateway(anAccount({ interface: 'soap-tts', format: 'xml', baseUrl: url, credentials }));
  try {
    return await gateway.send(outgoing(request));
  } finally {
    await gateway.close();
  }
}

function decoded(evidence: Evidence): SendAnswer {
  if (evidence.kind !== 'answer') throw new Error(`expected an answer, got ${JSON.stringify(evidence)}`);
  return wireInterface('soap-tts', 'xml').decodeSendAnswer(evidence.body);
}

describe('a foreign SOAP server made from our WSDL', () => {
  const keypads = Object.fromEntries(
    message.keypads.flatMap(({ Tone, RouteNumber }) => [
      [`keypad_${Tone}_enabled`, 'true'],
      [`keypad_${Tone}_route_number`, RouteNumber],
    ]),
  );
  const parts = {
    sender: 'user@example.com',
    token: 'secret <&> token',
    caller_id: '+6491234567',
    reference: 'V1',
    billing_account: 'North & South',
    number_of_operators: '7',
    retry_attempts: '3',
    retry_period: '10',
    sendtime: '31/12/2026 23:59',
    endtime: '01/01/2027 08:00',
    voice: 'Nicole',
    msg_to_people: trimmedHostile,
    msg_to_answer_phones: `1 ${trimmedHostile}`,
    call_route_msg_to_operators: `2 ${trimmedHostile}`,
    call_route_msg_to_people: `3 ${trimmedHostile}`,
    call_route_msg_on_wrong_key: `4 ${trimmedHostile}`,
    ...keypads,
    options: '{"a":1}',
  };

  test('the server receives every part with its exact text, and its answer is a success', async () => {
    await using peer = await soapServer(() => ({ ttsReturn: 'Job 12345678' }));
    const evidence = await send(peer.url, message);
    const phone_numbers = '64211234567,64211234568';
    expect(peer.calls).toEqual([{ ...parts, phone_numbers }]);
    expect(new Set([...Object.keys({ ...parts, phone_numbers }), 'csv_file'])).toEqual(new Set(soapParts));
    expect(decoded(evidence)).toEqual({ kind: 'unnamed_success', jobNumber: '12345678' });
  });

  test('the server receives recipients with other fields as a CSV file', async () => {
    await using peer = await soapServer(() => ({ ttsReturn: 'Job 12345678' }));
    const destinations = [
      { Recipient: '+64211234567', Company: 'Smith, "Ltd"\r\n💸' },
      { Recipient: '+64211234568' },
    ];
    await send(peer.url, { ...message, destinations });
    const csv = '"Recipient","Company"\n"64211234567","Smith, ""Ltd""\r\n💸"\n"64211234568",\n';
    expect(peer.calls).toEqual([{ ...parts, csv_file: Buffer.from(csv).toString('base64') }]);
  });

  test.each([
    ['Client', 'sender', 500],
    ['Server', 'service', 500],
    // A fault belongs to status 500, but some servers answer it with 200.
    ['Client', 'sender', 200],
  ])('a fault of the %s is read as one of the %s (%d)', async (faultcode, origin, statusCode) => {
    const faultstring = 'It is <not> & never "so"';
    await using peer = await soapServer(() => {
      throw { Fault: { faultcode: `soap:${faultcode}`, faultstring, statusCode } };
    });
    const evidence = await send(peer.url, message);
    expect(evidence).toMatchObject({ kind: 'answer', status: statusCode });
    expect(decoded(evidence)).toEqual({ kind: 'fault', origin, words: [faultstring] });
  });
});
