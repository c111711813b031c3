import { setTimeout as sleep } from 'node:timers/promises';
import accepts from '@fastify/accepts';
import { type FastifyInstance, fastify } from 'fastify';
import { expect, test } from 'vitest';
import { openLogger } from '../../../src/platform/logger.ts';
import { createErrorHandler } from '../../../src/server/api/problem.ts';
import { sendPieces } from '../../../src/server/api/send-report.ts';

type Pieces = () => AsyncGenerator<string, void, undefined>;

/** A server whose only report consists of these pieces; `ended` settles like the sending. */
async function reporting(pieces: Pieces) {
  const server: FastifyInstance = fastify();
  await server.register(accepts);
  server.setErrorHandler(createErrorHandler(openLogger('silent', 'info')));
  const ended = Promise.withResolvers<string>();
  server.get('/', async (_request, reply) => {
    const sent = sendPieces(reply, { name: 'report', format: 'csv' }, pieces());
    await sent.then(
      () => ended.resolve('sent'),
      () => ended.resolve('broken off'),
    );
    return reply;
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return { url, ended: ended.promise, [Symbol.asyncDispose]: () => server.close() };
}

test('a report that fails before its first piece is answered with an error', async () => {
  await using server = await reporting(async function* () {
    if (server.url) throw new Error('gone');
    yield '';
  });
  const answer = await fetch(server.url);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    500,
    'application/problem+json; charset=utf-8',
  ]);
  expect(await server.ended).toBe('broken off');
});

test('a report that fails in the middle breaks the connection', async () => {
  await using server = await reporting(async function* () {
    yield 'a,b\n'.repeat(10_000);
    await sleep(20);
    throw new Error('gone');
  });
  const answer = await fetch(server.url);
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow();
  expect(await server.ended).toBe('broken off');
});

test('a report stops reading the ledger when its caller disconnects', async () => {
  let ended = false;
  await using server = await reporting(async function* () {
    try {
      for (;;) yield 'a,b\n'.repeat(10_000);
    } finally {
      ended = true;
    }
  });
  const reader = new AbortController();
  await fetch(server.url, { signal: reader.signal });
  reader.abort();
  expect(await server.ended).toBe('broken off');
  expect(ended).toBe(true);
});

test('a complete report is sent as a named file', async () => {
  await using server = await reporting(async function* () {
    yield 'a\n';
    yield '1\n';
  });
  const answer = await fetch(server.url);
  expect([await answer.text(), answer.headers.get('content-disposition')]).toEqual([
    'a\n1\n',
    'attachment; filename="report.csv"',
  ]);
  expect(await server.ended).toBe('sent');
});
