import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCompanyProvider } from '../../../src/dashboard/base/company-provider.ts';
import type { CompanySignIn } from '../../../src/engine/access/company-sign-in.ts';

const own = generateKeyPairSync('rsa', { modulusLength: 2048 });
const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
const begun = { verifier: 'v'.repeat(43), state: 'state', nonce: 'nonce' };

/** A provider that says what a test wants it to say. */
let server: Server;
let issuer: string;
let said: {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly key: typeof own;
  readonly issuer: string;
};
beforeAll(async () => {
  server = createServer(({ url = '' }, answer) => {
    const send = (value: unknown) =>
      answer.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    if (url === '/keys')
      return send({
        keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'a', use: 'sig', alg: 'RS256' }],
      });
    if (url === '/token') return send({ access_token: 'x', token_type: 'bearer', id_token: idToken() });
    const at = (path: string): string => `${issuer}${path}`;
    return send({
      issuer: said.issuer,
      authorization_endpoint: at('/auth'),
      token_endpoint: at('/token'),
      jwks_uri: at('/keys'),
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterAll(() => server.close());

function idToken(): string {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    sub: 'ann',
    aud: 'volley',
    nonce: 'nonce',
    iat: now,
    exp: now + 60,
    ...said.claims,
  };
  const parts = [{ alg: 'RS256', kid: 'a' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = sign('sha256', Buffer.from(parts.join('.')), said.key.privateKey);
  return [...parts, signature.toString('base64url')].join('.');
}

const finish = async (changes: Partial<typeof said> = {}, query = '?code=x&state=state') => {
  said = { claims: {}, key: own, issuer, ...changes };
  const settings: CompanySignIn = {
    issuer: new URL(issuer),
    clientId: 'volley',
    clientSecret: 'secret',
    publicUrl: 'http://127.0.0.1:1',
    mapping: [],
    user: 'email',
  };
  return createCompanyProvider(settings).finish(query, begun);
};

test('what the provider says of a person is taken from its answer', async () => {
  expect(await finish({ claims: { groups: ['a'] } })).toMatchObject({ sub: 'ann', groups: ['a'] });
});

test.each([
  ['an answer for another program', { claims: { aud: 'other' } }],
  ['an answer of another issuer', { claims: { iss: 'https://other.example' } }],
  ['an answer to another question', { claims: { nonce: 'other' } }],
  ['an answer that has expired', { claims: { exp: 1 } }],
  ['an answer signed with another key', { key: foreign }],
])('%s is refused', async (_, changes) => {
  await expect(finish(changes)).rejects.toThrow();
});

test('a provider that gives itself another name is refused', async () => {
  await expect(finish({ issuer: 'https://other.example' })).rejects.toThrow();
});

test('a return with another state is refused before the provider is asked', async () => {
  await expect(finish({}, '?code=x&state=other')).rejects.toThrow();
});
