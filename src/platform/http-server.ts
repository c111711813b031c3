import type { Server } from 'node:http';
import { type FastifyHttpOptions, type FastifyInstance, fastify } from 'fastify';
import { InputError } from '../domain/problems.ts';
import { codeOf } from './file-error.ts';

export type ListenAddress = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Names of the options in error messages. */
  readonly options?: { readonly host: string; readonly port: string };
};

export type HttpServerOptions = Omit<FastifyHttpOptions<Server>, 'bodyLimit'>;

/**
 * A server that reads the body of any content type as bytes. By default, `close` also ends connections. A call with two
 * `Host` headers is answered 400 (RFC 9112, section 3.2): a proxy may have checked the other one.
 *
 * @param bodyLimit in bytes; answers 413 to larger bodies
 */
export function openHttpServer(bodyLimit: number, options: HttpServerOptions = {}): FastifyInstance {
  const server = fastify({ forceCloseConnections: true, ...options, bodyLimit });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  server.addHook('onRequest', ({ raw }, reply, done) => {
    if (countHosts(raw.rawHeaders) < 2) return done();
    void reply.code(400).header('connection', 'close').send({ error: 'the call has several Host headers' });
  });
  return server;
}

/** @param rawHeaders names and values in turn */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts++;
  return hosts;
}

/**
 * @returns the server's address without a trailing slash
 * @throws InputError if the address or port is not available
 */
export async function listen(
  server: FastifyInstance,
  { host, port, options = { host: '--host', port: '--port' } }: ListenAddress,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    await server.close();
    throw listenProblem(error, { host, port, options });
  }
  const address = server.server.address();
  const actualPort = typeof address === 'object' && address !== null ? address.port : port;
  return `http://${host.includes(':') ? `[${host}]` : host}:${actualPort}`;
}

function listenProblem(error: unknown, { host, port, options }: Required<ListenAddress>): unknown {
  const problem = (where: string, what: string): InputError =>
    new InputError([{ where, what }], { cause: error });
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return problem(
        `${options.port} ${port}`,
        `Port ${port} is in use. Stop the program that uses it, or choose another port with ${options.port} (0 takes a free one).`,
      );
    case 'EACCES':
      return problem(
        `${options.port} ${port}`,
        `You have no permission to use port ${port}. Choose one above 1023 with ${options.port}.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return problem(
        `${options.host} ${host}`,
        'This machine has no such address. Use 127.0.0.1, or 0.0.0.0 for all.',
      );
    default:
      return error;
  }
}
