import { fastify } from 'fastify';
import { expect, test } from 'vitest';
import { EndedError } from '../../../src/domain/problems.ts';
import { openLogger } from '../../../src/platform/logger.ts';
import { createErrorHandler } from '../../../src/server/api/problem.ts';

test('a call whose planning thread ends is answered 503, and only the log has the cause', async () => {
  const logged: string[] = [];
  const server = fastify();
  server.setErrorHandler(
    createErrorHandler(openLogger('info', 'info', { write: (line) => void logged.push(line) })),
  );
  server.get('/', () => {
    throw new EndedError('the planning thread has ended (out of memory)');
  });
  const answer = await server.inject('/');
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '5']);
  expect(answer.json()).toMatchObject({
    kind: 'unavailable',
    detail: 'The thread that plans runs has ended. Try again.',
  });
  expect(logged.join('')).toContain('out of memory');
  await server.close();
});
