import { describe, expect, test } from 'vitest';
import { createRedactor, redactVerdict } from '../../src/gateway/redact.ts';
import type { Verdict } from '../../src/gateway/verdict.ts';
import type { Credentials } from '../../src/wire/wire-interface.ts';
import { openTestGateway, smsRequest, textPeer } from './test-peers.ts';

const secret = 'k<e"y&/1';
const each: readonly Credentials[] = [
  { kind: 'authToken', authToken: secret },
  { kind: 'apiKey', sender: 'a@b.example', apiKey: secret },
  { kind: 'senderToken', sender: 'a@b.example', token: secret },
];

describe.each(each)('redactVerdict with a credential of kind $kind', (credentials) => {
  const redactText = createRedactor(credentials);
  const redact = (verdict: Verdict): Verdict => redactVerdict(verdict, redactText);

  test('no text of a verdict contains the credential, neither plain nor as in JSON, XML or an address', () => {
    const words = [
      `a ${secret} b`,
      JSON.stringify({ k: secret }),
      '<k>k&lt;e"y&amp;/1</k>',
      '<k v="k&lt;e&quot;y&amp;/1"/>',
    ];
    expect(redact({ kind: 'rejected', words: [...words, encodeURIComponent(secret)] })).toEqual({
      kind: 'rejected',
      words: ['a *** b', '{"k":"***"}', '<k>***</k>', '<k v="***"/>', '***'],
    });
    expect(redact({ kind: 'unauthorized', words: [secret] })).toEqual({
      kind: 'unauthorized',
      words: ['***'],
    });
    expect(redact({ kind: 'in_doubt', reason: `x${secret}` })).toEqual({ kind: 'in_doubt', reason: 'x***' });
    expect(redact({ kind: 'retry', reason: secret, retryAfter: '7' })).toEqual({
      kind: 'retry',
      reason: '***',
      retryAfter: '7',
    });
    expect(redact({ kind: 'accepted', jobNumber: secret })).toEqual({ kind: 'accepted', jobNumber: '***' });
  });
});

test('no text of a verdict contains NUL, which the ledger cannot store', async () => {
  await using peer = await textPeer((_body, response) => {
    response.statusCode = 400;
    response.end('{"Result":"Failed","ErrorMessage":["a\\u0000b"]}');
  });
  await using gateway = openTestGateway(peer.url);
  const verdict = gateway.classify(await gateway.send(smsRequest('V1')), 'V1');
  expect(verdict).toEqual({ kind: 'rejected', words: ['ab'] });
});

test('the token is redacted from a page that quotes the whole request', async () => {
  await using peer = await textPeer((body, response, { headers }) => {
    response.statusCode = 502;
    response.end(`<html>You sent Authorization: ${headers.authorization} with ${body.slice(0, 20)}</html>`);
  });
  await using gateway = openTestGateway(peer.url);
  const verdict = gateway.classify(await gateway.send(smsRequest('V1')), 'V1');
  expect(verdict).toMatchObject({
    kind: 'in_doubt',
    reason: expect.stringContaining('Authorization: Basic ***'),
  });
});

test('no text contains the credential in Base64, at whatever place of a longer text', () => {
  const authToken = 'token-of-forty-characters-0123456789abcd';
  const redact = createRedactor({ kind: 'authToken', authToken });
  for (const before of ['', 'a', 'ab', 'abc', 'user@example.com:'])
    for (const encoding of ['base64', 'base64url'] as const) {
      const quoted = redact(
        `Authorization: Basic ${Buffer.from(`${before}${authToken}-`).toString(encoding)}`,
      );
      const [, , encoded = ''] = quoted.split(' ');
      const readable = Buffer.from(encoded.replace('***', ''), encoding).toString('latin1');
      expect(quoted).toContain('***');
      expect(readable).not.toContain(authToken.slice(3, -3));
    }
});
