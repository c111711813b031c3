import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Account } from '../../src/gateway/account.ts';
import { rest202Json } from '../../src/wire/rest-2.02.ts';
import { send, startTestSandbox } from '../sandbox/start-test-sandbox.ts';
import { freePort } from '../support/free-port.ts';
import { secret, smallestMessage } from '../support/messages.ts';
import { answeringPeer, openTestGateway, textPeer } from './test-peers.ts';

describe('lookUp', () => {
  const credentials = { kind: 'authToken', authToken: secret } as const;

  test.each(['json', 'xml'] as const)('an accepted message is found, in %s', async (format) => {
    await using sandbox = await startTestSandbox();
    await send(sandbox, rest202Json, { ...smallestMessage('rest-2.02', 'sms'), messageId: 'V1' });
    await using gateway = openTestGateway(sandbox.url, { format, credentials });
    expect(await gateway.lookUp('V1')).toEqual({
      kind: 'found',
      state: 'Completed',
      jobNumber: expect.stringMatching(/^[0-9A-F]{8}$/),
      recipients: [expect.any(Object)],
      pages: 1,
    });
  });

  test('a message that never arrived, or was refused, is not found', async () => {
    await using sandbox = await startTestSandbox();
    await send(sandbox, rest202Json, { ...smallestMessage('rest-2.02', 'sms'), messageId: 'V1', fields: {} });
    await using gateway = openTestGateway(sandbox.url, { credentials });
    expect(await gateway.lookUp('V1')).toEqual({ kind: 'not_found' });
    expect(await gateway.lookUp('V2')).toEqual({ kind: 'not_found' });
  });

  test("a refused token is unauthorized, in the service's words", async () => {
    await using sandbox = await startTestSandbox({ token: 'another' });
    await using gateway = openTestGateway(sandbox.url, { credentials });
    expect(await gateway.lookUp('V1')).toEqual({ kind: 'unauthorized', words: [expect.any(String)] });
  });

  test('an interface without a look-up is unclear, and nothing is sent', async () => {
    const changes: Partial<Account> = {
      interface: 'rest-1.04',
      credentials: { kind: 'apiKey', sender: 'a@b.example', apiKey: 'k' },
    };
    await using gateway = openTestGateway(`http://127.0.0.1:${await freePort()}`, changes);
    expect(await gateway.lookUp('V1')).toEqual({
      kind: 'unclear',
      reason: 'rest-1.04 has no status look-up',
    });
  });
});

async function lookUpWith(answer: (response: ServerResponse) => void) {
  await using peer = await textPeer((_body, response) => answer(response));
  await using gateway = openTestGateway(peer.url);
  return gateway.lookUp('V1');
}

const answered = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  lookUpWith((response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body)),
  );

const found = { Result: 'Success', MessageID: 'V1', Status: 'Pending' };

test('a look-up is one GET below the path of the account, without a body', async () => {
  const seen: unknown[] = [];
  await using peer = await textPeer((body, response, { method, url, headers }) => {
    seen.push({ method, url, body, authorization: headers.authorization });
    response.end(JSON.stringify(found));
  });
  await using gateway = openTestGateway(`${peer.url}/behind/proxy`);
  expect(await gateway.lookUp('V1')).toEqual({ kind: 'found', state: 'Pending', recipients: [], pages: 1 });
  expect(seen).toEqual([
    {
      method: 'GET',
      url: '/behind/proxy/api/v2.02/get/status/V1?recordsPerPage=1&page=1',
      body: '',
      authorization: 'Basic token-for-tests',
    },
  ]);
});

const contradiction = 'the status and the answer contradict each other';

describe('an inconclusive look-up', () => {
  test.each([
    ['for another MessageID', 200, { ...found, MessageID: 'V2' }, 'the answer names another MessageID (V2)'],
    ['in other capitals', 200, { ...found, MessageID: 'v1' }, 'the answer names another MessageID (v1)'],
    ['without a MessageID', 200, { Result: 'Success' }, 'the answer has no MessageID'],
    ['of an unknown state', 200, { ...found, Status: 'Unknown' }, 'the state of the message is Unknown'],
    ['of a failure', 200, { ...found, Result: 'Failed' }, 'the answer has no known Result'],
    ['that is empty', 200, '', 'the answer is empty'],
    ['of a proxy', 200, '<html>Sign in</html>', 'the answer is neither a JSON object nor XML'],
    ['of a proxy that knows no such page', 404, 'Not Found', 'the answer is neither a JSON object nor XML'],
    [
      'not found with another MessageID',
      404,
      { Result: 'RecordNotFound', MessageID: 'V2' },
      'the answer names another MessageID (V2)',
    ],
    ['found with an error', 500, found, contradiction],
    ['not found with 200', 200, { Result: 'RecordNotFound' }, contradiction],
    ['with status 429', 429, { Result: 'Failed' }, 'the answer has no known Result'],
  ])('an answer %s is unclear', async (_, status, body, why) => {
    expect(await answered(status, body)).toMatchObject({ kind: 'unclear', reason: `HTTP ${status}: ${why}` });
  });

  test('a redirect is unclear, and is not followed', async () => {
    let requests = 0;
    const result = await lookUpWith((response) => {
      requests++;
      response.writeHead(302, { Location: '/elsewhere' }).end();
    });
    expect([result.kind, requests]).toEqual(['unclear', 1]);
  });

  test('a truncated answer is unclear', async () => {
    await using peer = await answeringPeer(
      'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"Result"',
      (socket) => socket.end(),
    );
    await using gateway = openTestGateway(peer.url);
    expect(await gateway.lookUp('V1')).toMatchObject({ kind: 'unclear' });
  });

  test('an answer larger than a mebibyte is unclear', async () => {
    const result = await answered(200, { ...found, Recipients: 'x'.repeat(2 ** 20) });
    expect(result).toEqual({ kind: 'unclear', reason: 'answer larger than 1048576 bytes' });
  });

  test('no answer in time is unclear', async () => {
    await using peer = await answeringPeer('');
    await using gateway = openTestGateway(peer.url, { timeouts: { headers: 100 } });
    expect(await gateway.lookUp('V1')).toEqual({ kind: 'unclear', reason: 'no answer within 100 ms' });
  });

  test('a closed port is unclear', async () => {
    await using gateway = openTestGateway(`http://127.0.0.1:${await freePort()}`);
    expect(await gateway.lookUp('V1')).toEqual({ kind: 'unclear', reason: 'connection refused' });
  });
});

test('the result of a look-up never contains the token, NUL or very long names', async () => {
  const mirror = (Result: string, status: number, Message = '') =>
    answered(status, {
      Result,
      MessageID: Result === 'Failed' ? 'token-for-tests' : 'V1',
      Status: `a\0${'token-for-tests'.repeat(9)}`,
      JobNum: 'x'.repeat(500),
      ErrorMessage: [Message],
    });
  expect(await mirror('Success', 200)).toEqual({
    kind: 'found',
    state: `a${'***'.repeat(9)}`,
    jobNumber: 'x'.repeat(80),
    recipients: [],
    pages: 1,
  });
  expect(await mirror('Unauthorized', 401, 'token-for-tests?')).toEqual({
    kind: 'unauthorized',
    words: ['***?'],
  });
  expect(await answered(200, { ...found, MessageID: 'token-for-tests' })).toEqual({
    kind: 'unclear',
    reason: 'HTTP 200: the answer names another MessageID (***)',
  });
});
