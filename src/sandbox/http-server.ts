import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ListenAddress, listen, openHttpServer } from '../platform/http-server.ts';
import type { EncodedSendAnswer, ReceivedRequest } from '../wire/wire.ts';
import { plainAnswer, type Receipt } from './receive.ts';

/** Largest request (bytes); a larger one is answered 413. interface.md, section 8: not shown. */
const bodyLimit = 64 * 1024 * 1024;

export type HttpServer = { readonly url: string; readonly port: number; readonly close: () => Promise<void> };

/** What the server asks its owner for. */
export type Answers = {
  readonly answer: (received: ReceivedRequest) => Promise<EncodedSendAnswer>;
  /** For a request that HTTP itself refuses, such as one that is too large. */
  readonly refuse: (receipt: Receipt) => Promise<EncodedSendAnswer>;
};

/**
 * Takes every method, path and content type, with the body as bytes; only a body without any content type, or with one
 * that is not a media type, is refused with 415.
 *
 * @throws InputError for an address or a port that cannot be listened on.
 */
export async function startHttpServer(address: ListenAddress, answers: Answers): Promise<HttpServer> {
  const app = build(answers);
  const url = await listen(app, address);
  return { url, port: Number(new URL(url).port), close: () => app.close() };
}

function build({ answer, refuse }: Answers): FastifyInstance {
  const app = openHttpServer(bodyLimit);
  app.all('*', async (request, reply) => send(reply, await answer(toReceived(request))));
  app.setErrorHandler<Error & { statusCode?: number }>(async (error, _request, reply) => {
    const status = error.statusCode ?? 500;
    const words = STATUS_CODES[status] ?? error.name;
    return send(reply, await refuse({ words: [words], answer: plainAnswer(status, words) }));
  });
  return app;
}

function toReceived(request: FastifyRequest): ReceivedRequest {
  const [path = ''] = request.url.split('?');
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  return { method: request.method, path, headers: request.headers, body };
}

function send(reply: FastifyReply, { status, headers, body }: EncodedSendAnswer): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
