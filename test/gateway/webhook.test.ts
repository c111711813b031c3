import { createServer, type RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { callWebhook } from '../../src/gateway/webhook.ts';
import { listening } from '../support/listening.ts';

const key = Buffer.alloc(32, 7);
const never = new AbortController().signal;
const call = { id: 'an-id', now: new Date(), body: '{}' };

async function answeredBy(listener: RequestListener, signal: AbortSignal = never) {
  await using server = await listening(createServer(listener));
  return await callWebhook({ url: new URL(`http://127.0.0.1:${server.port}/x?y=1`), key }, call, signal);
}

test('a notification is sent by POST to the whole address', async () => {
  const seen: unknown[] = [];
  const end = await answeredBy(({ method, url, headers }, response) => {
    seen.push([method, url, headers['content-type'], headers['webhook-id']]);
    response.end();
  });
  expect([end, ...seen]).toEqual([{ kind: 'acknowledged' }, ['POST', '/x?y=1', 'application/json', 'an-id']]);
});

test('an endless answer counts as an answer, and at most 64 KiB of it are read', async () => {
  let written = 0;
  const end = await answeredBy((_, response) => {
    const piece = Buffer.alloc(16_384);
    const write = (): void => {
      while (!response.destroyed && response.write(piece)) written += piece.length;
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  });
  expect(end).toEqual({ kind: 'acknowledged' });
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test.each([
  ['sends no HTTP answer', (_: unknown, { socket }) => void socket?.end('hello\r\n\r\n')],
  ['closes the connection', (_: unknown, { socket }) => void socket?.destroy()],
  [
    'sends a header that is too large',
    (_: unknown, response) => void response.setHeader('x', 'y'.repeat(99_999)).end(),
  ],
] satisfies [string, RequestListener][])(
  'a notification fails in our own words when the receiver %s',
  async (_, listener) => {
    const end = await answeredBy(listener);
    expect(end).toMatchObject({ kind: 'failed' });
    expect(JSON.stringify(end)).not.toMatch(/hello|yyy|127\.0\.0\.1/);
  },
);

test('a process that must stop does not wait for an answer', async () => {
  const stop = new AbortController();
  const end = answeredBy(() => undefined, stop.signal);
  await sleep(50);
  stop.abort();
  expect(await end).toEqual({ kind: 'failed', problem: 'no answer before the process stopped' });
});
