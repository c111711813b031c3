import { connect } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { SendRequest } from '../../src/domain/message.ts';
import { InputError } from '../../src/domain/problems.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { secret } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { type Answer, post, send as sendTo, startTestSandbox } from './start-test-sandbox.ts';

const sms: SendRequest = {
  channel: 'sms',
  messageId: 'V1',
  fields: { Message: 'Hi', SubAccount: 'North' },
  destinations: [{ Recipient: '+64211234567', 'First Name': 'Ana' }, { Recipient: '+64211234568' }],
  files: [],
  keypads: [],
};

/** The status and the JSON of an answer. */
async function parsed(answer: Promise<Answer>): Promise<{ status: number; body: unknown }> {
  const { status, text } = await answer;
  return { status, body: JSON.parse(text) };
}

const send = (sandbox: Sandbox, request: SendRequest) => parsed(sendTo(sandbox, rest202Json, request));

const authorized = { 'Content-Type': "application/json; encoding='utf-8'", Authorization: 'Basic any' };

describe('answers of the sandbox', () => {
  test('a request with a MessageID is answered 200 with that MessageID', async () => {
    await using sandbox = await startTestSandbox();
    expect(await send(sandbox, sms)).toEqual({ status: 200, body: { Result: 'Success', MessageID: 'V1' } });
  });

  test('a request with an absent or blank MessageID is answered 200 with a generated UUID', async () => {
    await using sandbox = await startTestSandbox();
    for (const id of ['', '"MessageID":" ",']) {
      const text = `{"MessageData":{${id}"Message":"x","Destinations":[{"Recipient":"1"}]}}`;
      const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
      expect(await parsed(post(`${sandbox.url}/api/v2.02/send/sms`, text, authorized))).toEqual({
        status: 200,
        body: { Result: 'Success', MessageID: expect.stringMatching(uuid) },
      });
    }
  });

  test('a missing required field is answered 400 in the shape of the channel', async () => {
    await using sandbox = await startTestSandbox();
    const missing = { fields: {}, destinations: sms.destinations, files: [], keypads: [], messageId: 'V1' };
    expect(await send(sandbox, { ...missing, channel: 'email' })).toEqual({
      status: 400,
      body: {
        Result: 'Failed',
        MessageID: 'V1',
        ErrorMessage: ['Missing or empty message body. Please specify MessagePlain or MessageHTML'],
      },
    });
    expect(await send(sandbox, { ...missing, channel: 'sms' })).toEqual({
      status: 400,
      body: { Result: 'Failed', MessageID: 'V1', ErrorMessage: 'Missing or empty message' },
    });
    expect(await parsed(post(`${sandbox.url}/api/v2.02/send/fax`, '{"Message":"x"}', authorized))).toEqual({
      status: 400,
      body: { Result: 'Failed', MessageID: expect.any(String), ErrorMessage: 'Missing message data' },
    });
  });

  test('a missing or wrong token is answered 401 before anything else is checked', async () => {
    await using sandbox = await startTestSandbox({ token: secret });
    expect(await send(sandbox, sms)).toMatchObject({ status: 200 });
    for (const headers of [authorized, {}]) {
      expect(await parsed(post(`${sandbox.url}/api/v2.02/send/sms`, '{', headers))).toEqual({
        status: 401,
        body: { Result: 'Unauthorized', ErrorMessage: [expect.any(String)] },
      });
    }
  });

  test.each([undefined, 'json', '*', 'text/plain'])(
    'a body with the content type %s is read by its first character',
    async (contentType) => {
      await using sandbox = await startTestSandbox();
      const body = '{"MessageData":{"Message":"x","Destinations":[{"Recipient":"1"}]}}';
      const response = await request(`${sandbox.url}/api/v2.02/send/sms`, {
        method: 'POST',
        headers: { Authorization: 'Basic any', ...(contentType ? { 'Content-Type': contentType } : {}) },
        body: Buffer.from(body),
      });
      expect(response.statusCode).toBe(200);
      await response.body.dump();
      expect(await sandbox.journal()).toMatchObject([{ format: 'json', status: 200, recipients: ['1'] }]);
    },
  );

  test('a request over 64 MiB is answered 413', async () => {
    await using sandbox = await startTestSandbox();
    const large = Buffer.alloc(64 * 1024 * 1024 + 1).toString('latin1');
    expect(await post(`${sandbox.url}/api/v2.02/send/sms`, large, authorized)).toMatchObject({ status: 413 });
    expect(await sandbox.journal()).toMatchObject([{ status: 413, messageId: null, recipients: [] }]);
  });

  test('the configured share of requests is answered 500 and not accepted, and may succeed later', async () => {
    await using sandbox = await startTestSandbox({ failRate: 0.3 });
    const messageIds = Array.from({ length: 100 }, (_, index) => `V${index}`);
    const statuses = await Promise.all(
      messageIds.map(async (messageId) => (await send(sandbox, { ...sms, messageId })).status),
    );
    const failed = messageIds.filter((_, index) => statuses[index] === 500);
    expect(statuses.every((status) => status === 200 || status === 500)).toBe(true);
    expect(failed.length).toBeGreaterThan(15);
    expect(failed.length).toBeLessThan(45);
    const repeats = await Promise.all(failed.map((messageId) => send(sandbox, { ...sms, messageId })));
    expect(repeats.some(({ status }) => status === 200)).toBe(true);
  });

  test('every answer waits for the configured latency', async () => {
    await using sandbox = await startTestSandbox({ latency: 80 });
    const before = performance.now();
    await send(sandbox, sms);
    expect(performance.now() - before).toBeGreaterThanOrEqual(78);
  });
});

describe('the journal', () => {
  test('every request has a line, in order, even if it was not understood', async () => {
    await using sandbox = await startTestSandbox({
      token: secret,
      now: () => new Date('2026-01-02T03:04:05Z'),
    });
    const file = { Name: 'a.pdf', Data: Buffer.from('hello').toString('base64') };
    await send(sandbox, { ...sms, files: [file] });
    const repeated = '{"MessageData":{"MessageID":"V1"}}';
    await post(`${sandbox.url}/api/v2.02/send/sms`, repeated, authorized);
    await post(`${sandbox.url}/elsewhere`, '{', authorized);
    await send(sandbox, { ...sms, destinations: [] });
    expect(await sandbox.journal()).toEqual([
      {
        at: '2026-01-02T03:04:05.000Z',
        interface: 'rest-2.02',
        format: 'json',
        channel: 'sms',
        messageId: 'V1',
        recipients: ['+64211234567', '+64211234568'],
        status: 200,
        repeated: false,
        words: [],
        message: {
          fields: { Message: 'Hi', SubAccount: 'North' },
          destinations: [{ 'First Name': 'Ana' }, {}],
          files: [{ name: 'a.pdf', bytes: 5 }],
          keypads: [],
        },
      },
      expect.objectContaining({ messageId: 'V1', status: 401, repeated: true }),
      expect.objectContaining({
        interface: null,
        channel: null,
        messageId: null,
        recipients: [],
        status: 404,
      }),
      expect.objectContaining({ status: 400, words: ['Missing or empty destinations'] }),
    ]);
  });

  test('the line is written before the answer, even if the sender does not wait for it', async () => {
    await using sandbox = await startTestSandbox({ latency: 10_000 });
    const { method, path, headers, body } = rest202Json.encodeSendRequest(outgoing(sms), {
      kind: 'authToken',
      authToken: 'any',
    });
    const header = Object.entries({ ...headers, Host: 'x', 'Content-Length': Buffer.byteLength(body) });
    const socket = connect(sandbox.port, '127.0.0.1');
    socket.write(
      `${method} ${path} HTTP/1.1\r\n${header.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    );
    socket.write(body);
    await expect.poll(sandbox.journal).toMatchObject([{ messageId: 'V1', status: 200 }]);
    socket.destroy();
  });

  test('an existing journal is appended to, and marks a repeated MessageID', async () => {
    await using workspace = await makeWorkspace();
    const journal = join(workspace.folder, 'requests.jsonl');
    const first = await startSandbox({ journal });
    await send(first, sms);
    await first.close();
    await using sandbox = await startTestSandbox({ journal });
    await send(sandbox, sms);
    await send(sandbox, sms);
    expect(await sandbox.journal()).toMatchObject([
      { repeated: false },
      { repeated: false },
      { repeated: true },
    ]);
  });
});

describe('sandbox start-up errors', () => {
  test('a port in use is refused with advice', async () => {
    await using first = await startTestSandbox();
    const second = startSandbox({ port: first.port });
    await expect(second).rejects.toThrow(InputError);
    await expect(second).rejects.toMatchObject({
      problems: [
        { where: `--port ${first.port}`, what: expect.stringContaining('choose another port with --port') },
      ],
    });
  });

  test('a journal that cannot be written is refused with advice', async () => {
    await expect(startSandbox({ journal: '/no/such.jsonl' })).rejects.toThrow(InputError);
  });

  test('an invalid address is refused, with its option', async () => {
    const started = startSandbox({ webhook: { url: 'x' } });
    await expect(started).rejects.toMatchObject({ problems: [{ where: '--webhook-url' }] });
  });
});

test('close() does not wait for delayed answers: it gives them at once', async () => {
  const begin = async () => {
    await using sandbox = await startTestSandbox({ latency: 60_000 });
    const answer = send(sandbox, sms);
    await expect.poll(sandbox.journal).toHaveLength(1);
    return { answer };
  };
  const { answer } = await begin();
  expect(await answer).toMatchObject({ status: 200 });
});
