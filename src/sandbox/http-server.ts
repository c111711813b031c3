import { STATUS_CODES } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { InputError } from '../domain.ts';
import type { EncodedSendAnswer, ReceivedRequest } from '../wire/wire.ts';
import { plainAnswer, type Receipt } from './receive.ts';

/** Largest request (bytes); a larger one is answered 413. interface.md, section 8: not shown. */
const bodyLimit = 64 * 1024 * 1024;

export type HttpServer = { readonly port: number; readonly close: () => Promise<void> };

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
export async function startHttpServer(host: string, port: number, answers: Answers): Promise<HttpServer> {
  const app = build(answers);
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw listenProblem(error, host, port);
  }
  return { port: portOf(app), close: () => app.close() };
}

function build({ answer, refuse }: Answers): FastifyInstance {
  const app = fastify({ bodyLimit, forceCloseConnections: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
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

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function listenProblem(error: unknown, host: string, port: number): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') {
    const what = `Port ${port} is in use. Stop the program that uses it, or choose another port with --port (0 takes a free one).`;
    return new InputError([{ where: `--port ${port}`, what }], { cause: error });
  }
  if (code === 'EACCES') {
    const what = `Port ${port} may not be used by this user. Choose one above 1023 with --port.`;
    return new InputError([{ where: `--port ${port}`, what }], { cause: error });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    const what = 'This machine has no such address. Use 127.0.0.1, or 0.0.0.0 for all.';
    return new InputError([{ where: `--host ${host}`, what }], { cause: error });
  }
  return error;
}
