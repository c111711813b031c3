import { Writable } from 'node:stream';
import { pino } from 'pino';
import { request } from 'undici';
import { beforeEach, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../src/server/receiver.ts';
import { emptyInbox, inboxOf, receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let receiver: Receiver;
let lines: string[];

beforeEach(async () => {
  await emptyInbox(opened);
  lines = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const options = receiverOptions(opened, {
    main: '{ basic: { user: volley, password: "${PASSWORD}" } }',
    open: '{ trustedProxies: [127.0.0.1] }',
  });
  receiver = await startReceiver(opened.context, { ...options, logger: pino({ base: null }, sink) });
  return () => receiver.close();
});

async function statusOf(path: string, from = '198.51.100.1'): Promise<number> {
  const headers = { 'x-forwarded-for': from };
  const answer = await request(receiver.url + path, { method: 'POST', headers, body: '{}' });
  await answer.body.dump();
  return answer.statusCode;
}

const loggedRefusals = () =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'call refused');

test('an address that is refused often is answered 429, and its allowed calls still 200', async () => {
  const wrong: number[] = [];
  for (let count = 0; count < 80; count++) wrong.push(await statusOf('/webhook/open/wrong'));
  expect(wrong.filter((status) => status === 404)).toHaveLength(60);
  expect(wrong.slice(60).every((status) => status === 429)).toBe(true);
  expect(await statusOf(`/webhook/open/${token}`)).toBe(200);
  expect(await inboxOf(opened)).toHaveLength(1);
  expect(await statusOf('/webhook/open/wrong', '198.51.100.2')).toBe(404);
});

test('allowed calls are not counted', async () => {
  for (let count = 0; count < 100; count++) expect(await statusOf(`/webhook/open/${token}`)).toBe(200);
  expect(await statusOf('/webhook/open/wrong')).toBe(404);
});

test('the log has the failed check, account and address, once a minute for an address', async () => {
  await statusOf(`/webhook/main/${token}`);
  await statusOf('/webhook/main/wrong');
  await statusOf('/webhook/open/wrong', '198.51.100.2');
  await statusOf('/nowhere', '2001:db8::1');
  await statusOf('/nowhere', '2001:db8::2');
  expect(loggedRefusals()).toMatchObject([
    { level: 40, account: 'main', check: 'basic', address: '198.51.100.1' },
    { level: 40, account: 'open', check: 'token', address: '198.51.100.2' },
    { level: 40, check: 'path', address: '2001:db8::' },
  ]);
});

test('no token is logged, even in the wrong part of the path', async () => {
  const paths = [`/webhook/${token}/main`, `/webhook/main/${token}`, `/webhok/main/${token}`, `/${token}`];
  for (const [index, path] of paths.entries()) await statusOf(path, `198.51.100.${index}`);
  expect(loggedRefusals().map(({ check }) => check)).toEqual(['account', 'basic', 'path', 'path']);
  expect(lines.join('')).not.toContain(token);
});
