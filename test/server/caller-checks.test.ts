import { Webhook } from 'standardwebhooks';
import { request } from 'undici';
import { beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../../src/platform/digest.ts';
import { type Receiver, startReceiver } from '../../src/server/receiver.ts';
import { emptyInbox, environment, inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let receiver: Receiver;

const receivers = {
  main: '',
  basic: '{ basic: { user: volley, password: "${PASSWORD}" } }',
  own: '{ credentials: required }',
  given: '{ credentials: { sender: ann, apiKey: "${PASSWORD}" } }',
  here: '{ addresses: [127.0.0.0/8, "::1"] }',
  away: '{ addresses: [203.0.113.0/24] }',
  signed: '{ signature: { secret: "${SIGNATURE}" } }',
  all: '{ basic: { user: volley, password: "${PASSWORD}" }, credentials: required, addresses: [127.0.0.1], signature: { secret: "${SIGNATURE}" } }',
};

beforeEach(async () => {
  await emptyInbox(opened);
  // Refusals are counted, so each test has its own receiver.
  receiver = await startReceiver(opened.context, receiverOptions(opened, receivers));
  return () => receiver.close();
});

type Call = {
  readonly body?: string;
  readonly headers?: Record<string, string>;
  readonly method?: string;
};

async function call(path: string, { body = '{}', headers = {}, method = 'POST' }: Call = {}) {
  const answer = await request(receiver.url + path, {
    method,
    headers,
    body: method === 'GET' ? null : body,
  });
  const { date: _, ...answerHeaders } = answer.headers;
  return { status: answer.statusCode, headers: answerHeaders, body: await answer.body.text() };
}

const webhook = (account: string): string => `/webhook/${account}/${token}`;
const statusOf = async (account: string, what?: Call): Promise<number> =>
  (await call(webhook(account), what)).status;

const basicHeader = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
const right = basicHeader(`volley:${environment.PASSWORD}`);

function signatureHeaders(body: string, secret = environment.SIGNATURE): Record<string, string> {
  const now = opened.context.now();
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', now, body),
  };
}

const ownCredentials = JSON.stringify({ Sender: 'volley@example.com', APIKey: environment.KEY });

test('every refused call has the same answer, byte for byte, as an unknown path', async () => {
  const nowhere = await call('/nowhere');
  expect(nowhere).toMatchObject({ status: 404, body: '{"error":"not found"}' });
  const wrong = [
    await call(`/webhook/main/${token}x`),
    await call(`/webhook/main/${token.slice(0, -1)}`),
    await call(webhook('stranger')),
    await call('/webhook/main'),
    await call('/webhook/main/'),
    await call(webhook('basic')),
    await call(webhook('own')),
    await call(webhook('away')),
    await call(webhook('signed')),
    await call(webhook('main'), { method: 'PUT' }),
    await call(webhook('main'), { method: 'DELETE' }),
    await call(`${webhook('main')}/`),
    await call(`${webhook('main')}/more`),
    await call('/webhook/main/%zz'),
    await call(`/webhook/main/${'x'.repeat(2_000)}`),
    await call('/webhook/main/x', { headers: { 'content-type': 'application/json; x' } }),
  ];
  expect(wrong).toEqual(wrong.map(() => nowhere));
  expect(await inboxOf(opened)).toEqual([]);
});

test.each(['__proto__', 'constructor', 'toString', '..', '%2e%2e', '.', '%2f', '..%2fmain', '%00', '%'])(
  'a call for an account called %s is refused',
  async (name) => {
    expect((await call(`/webhook/${name}/${token}`)).status).toBe(404);
    expect((await call(`/webhook/main/${name}`)).status).toBe(404);
    expect(await inboxOf(opened)).toEqual([]);
  },
);

test('a HEAD request stores nothing', async () => {
  expect((await call(webhook('main'), { method: 'HEAD' })).status).toBe(404);
  expect(await inboxOf(opened)).toEqual([]);
});

test('a token whose SHA-256 is in the accounts file is valid beside the one of the environment', async () => {
  const options = receiverOptions(opened);
  const main = options.accounts.get('main');
  if (!main) return expect.fail('no account');
  const next = 'the-token-that-comes-after-it';
  const accounts = new Map([['main', { ...main, tokenDigests: [...main.tokenDigests, digestOf(next)] }]]);
  const rotating = await startReceiver(opened.context, { ...options, accounts });
  const statuses = [];
  for (const each of [token, next, 'a-third-token-of-22-characters']) {
    const answer = await fetch(`${rotating.url}/webhook/main/${each}`, { method: 'POST', body: '{}' });
    statuses.push(answer.status);
  }
  await rotating.close();
  expect(statuses).toEqual([200, 200, 404]);
});

test('a token of 256 characters is accepted', async () => {
  const long = 'x'.repeat(256);
  const options = receiverOptions(opened);
  const main = options.accounts.get('main');
  if (!main) return expect.fail('no account');
  const accounts = new Map([['main', { ...main, tokenDigests: [digestOf(long)] }]]);
  const other = await startReceiver(opened.context, { ...options, accounts });
  const answer = await fetch(`${other.url}/webhook/main/${long}`, { method: 'POST', body: '{}' });
  await other.close();
  expect(answer.status).toBe(200);
});

describe('HTTP Basic', () => {
  test('HTTP Basic accepts the right user and password, and the header is not stored', async () => {
    expect(await statusOf('basic', { headers: right })).toBe(200);
    const [row] = await inboxOf(opened);
    expect(Object.keys(row?.headers ?? {})).not.toContain('authorization');
  });

  test('HTTP Basic accepts the user and password of a callback URL', async () => {
    const url = new URL(receiver.url + webhook('basic'));
    url.username = 'volley';
    url.password = environment.PASSWORD;
    const { username, password } = url;
    const sent = basicHeader(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
    expect(await statusOf('basic', { headers: sent })).toBe(200);
  });

  test.each([
    basicHeader('volley:wrong'),
    basicHeader(`wrong:${environment.PASSWORD}`),
    basicHeader('volley'),
    basicHeader(''),
    { authorization: 'Basic' },
    { authorization: `Bearer ${right.authorization.slice(6)}` },
    { authorization: 'Basic %%%' },
    {},
  ])('HTTP Basic refuses %j', async (headers) => {
    expect(await statusOf('basic', { headers: { ...headers } })).toBe(404);
    expect(await inboxOf(opened)).toEqual([]);
  });
});

describe('the credentials of the body', () => {
  test.each([
    ['JSON', ownCredentials],
    ['XML', `<r><Sender>volley@example.com</Sender><APIKey>${environment.KEY}</APIKey></r>`],
    ['form fields', `Sender=volley%40example.com&APIKey=${environment.KEY}`],
  ])("the account's credentials are accepted in %s", async (_, body) => {
    expect(await statusOf('own', { body })).toBe(200);
    expect(await inboxOf(opened)).toMatchObject([{ account: 'own', body: Buffer.from(body) }]);
  });

  test("the account's credentials are accepted in a query string", async () => {
    const query = `Sender=volley%40example.com&APIKey=${environment.KEY}`;
    expect((await call(`${webhook('own')}?${query}`, { method: 'GET' })).status).toBe(200);
  });

  test("the accounts file can require other credentials than the account's own", async () => {
    const body = JSON.stringify({ Sender: 'ann', APIKey: environment.PASSWORD });
    expect(await statusOf('given', { body })).toBe(200);
    expect(await statusOf('given', { body: ownCredentials })).toBe(404);
  });

  test.each([
    '',
    '{}',
    '{"Sender":"volley@example.com"}',
    '{"Sender":"volley@example.com","APIKey":""}',
    '{"Sender":"volley@example.com","APIKey":["key-of-the-service"]}',
    '{"Sender":"Volley@example.com","APIKey":"key-of-the-service"}',
    '<!DOCTYPE r [<!ENTITY k "key-of-the-service">]><r><Sender>volley@example.com</Sender><APIKey>&k;</APIKey></r>',
  ])('a body without valid credentials is refused: %s', async (body) => {
    expect(await statusOf('own', { body })).toBe(404);
    expect(await inboxOf(opened)).toEqual([]);
  });
});

describe('addresses', () => {
  test('calls from the listed addresses are accepted, and others refused', async () => {
    expect(await statusOf('here')).toBe(200);
    expect(await statusOf('away')).toBe(404);
  });

  test('X-Forwarded-For of an untrusted caller is ignored', async () => {
    expect(await statusOf('away', { headers: { 'x-forwarded-for': '203.0.113.7' } })).toBe(404);
  });

  test('behind a trusted proxy, the last address of X-Forwarded-For that is no proxy counts', async () => {
    const options = receiverOptions(opened, {
      away: '{ addresses: [203.0.113.0/24], trustedProxies: ["::1", 127.0.0.0/8, 10.0.0.0/8] }',
    });
    const behind = await startReceiver(opened.context, options);
    const statuses: number[] = [];
    for (const forwarded of [
      '203.0.113.7',
      '203.0.113.7, 10.1.2.3',
      '::ffff:203.0.113.7',
      '203.0.113.7, 198.51.100.1',
      '198.51.100.1',
      'nonsense',
      '',
    ]) {
      const headers = { 'x-forwarded-for': forwarded };
      const url = `${behind.url}/webhook/away/${token}`;
      const answer = await request(url, { method: 'POST', headers, body: '{}' });
      await answer.body.dump();
      statuses.push(answer.statusCode);
    }
    await behind.close();
    expect(statuses).toEqual([200, 200, 200, 404, 404, 404, 404]);
  });
});

describe('a signature', () => {
  test('a call with a valid signature of its raw bytes is accepted', async () => {
    const body = '{ "MessageID" : "ü" }';
    expect(await statusOf('signed', { body, headers: signatureHeaders(body) })).toBe(200);
    expect(await inboxOf(opened)).toMatchObject([{ body: Buffer.from(body) }]);
  });

  test('a signed call that comes again is answered as before and stored once', async () => {
    const body = '{"Type":"SMS"}';
    const headers = signatureHeaders(body);
    const calls = [1, 2, 3].map(() => statusOf('signed', { body, headers }));
    expect(await Promise.all(calls)).toEqual([200, 200, 200]);
    expect(await statusOf('signed', { body, headers })).toBe(200);
    expect(await inboxOf(opened)).toHaveLength(1);
    const other = '{"Type":"Fax"}';
    expect(await statusOf('signed', { body: other, headers: signatureHeaders(other) })).toBe(200);
    expect(await inboxOf(opened)).toHaveLength(2);
  });

  test('a call signed with another key, or for another body, is refused', async () => {
    const other = `whsec_${Buffer.alloc(32, 'o').toString('base64')}`;
    expect(await statusOf('signed', { headers: signatureHeaders('{}', other) })).toBe(404);
    expect(await statusOf('signed', { headers: signatureHeaders('{"a":1}') })).toBe(404);
    expect(await inboxOf(opened)).toEqual([]);
  });
});

test('a call must pass all checks of its account', async () => {
  const headers = { ...right, ...signatureHeaders(ownCredentials) };
  const { authorization, ...withoutBasic } = headers;
  expect(authorization).toBeDefined();
  expect(await statusOf('all', { body: ownCredentials, headers })).toBe(200);
  expect(await statusOf('all', { body: ownCredentials, headers: withoutBasic })).toBe(404);
  expect(await statusOf('all', { body: ownCredentials, headers: right })).toBe(404);
  expect(await statusOf('all', { body: '{}', headers: { ...right, ...signatureHeaders('{}') } })).toBe(404);
});
