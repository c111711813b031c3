import { STATUS_CODES } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ListenAddress, listen, openHttpServer } from '../platform/http-server.ts';
import type { EncodedAnswer, ReceivedRequest } from '../wire/wire-interface.ts';
import { type Receipt, refusedByServer } from './receive-request.ts';

/** Larger requests are answered 413 (bytes; not in interface.md, section 8). */
const bodyLimit = 64 * 1024 * 1024;

type Answers = {
  readonly answer: (received: ReceivedRequest) => Promise<EncodedAnswer>;
  /** For a request that HTTP itself refuses, such as a too large one. */
  readonly refuse: (receipt: Receipt) => Promise<EncodedAnswer>;
};

/**
 * Accepts every method, path and content type, with the body as bytes.
 *
 * @throws InputError for an address or port that is not available
 */
export async function startHttpServer(address: ListenAddress, { answer, refuse }: Answers) {
  const app = openHttpServer(bodyLimit);
  // Fastify refuses an invalid content type; here the body decides.
  app.addHook('onRequest', async ({ headers }) => {
    const isMediaType = /^\s*[\w!#$&^.+-]+\/[\w!#$&^.+-]+\s*(;|$)/.test(headers['content-type'] ?? '');
    if (!isMediaType) delete headers['content-type'];
  });
  app.all('*', async (request, reply) => send(reply, await answer(toReceived(request))));
  app.setErrorHandler<Error & { statusCode?: number }>(async (error, request, reply) => {
    const status = error.statusCode ?? 500;
    const words = STATUS_CODES[status] ?? error.name;
    return send(reply, await refuse(refusedByServer(toReceived(request), status, words)));
  });
  const url = await listen(app, address);
  return { url, port: Number(new URL(url).port), close: () => app.close() };
}

function toReceived(request: FastifyRequest): ReceivedRequest {
  const question = request.url.indexOf('?');
  const path = question < 0 ? request.url : request.url.slice(0, question);
  const query = question < 0 ? '' : request.url.slice(question + 1);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { method: request.method, path, query, headers: request.headers, body };
}

function send(reply: FastifyReply, { status, headers, body }: EncodedAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
