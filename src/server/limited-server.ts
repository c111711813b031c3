import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAddressList } from '../platform/address-list.ts';
import { type HttpServerOptions, openHttpServer } from '../platform/http-server.ts';
import type { Logger } from '../platform/logger.ts';
import { type ArrivingBodies, countArrivingBodies } from './arriving-bodies.ts';
import { warnOnceAMinute } from './warn-once-a-minute.ts';

/** Times in milliseconds, sizes in bytes. */
export type HttpLimits = {
  /** A larger body is answered 413. */
  readonly body: number;
  /** Request line and headers, also a delivery report in a query string; larger ones are answered 431. */
  readonly head: number;
  /** From the first byte, or the opening of the connection, until the head has arrived. */
  readonly headTime: number;
  readonly requestTime: number;
  /** Until a call that is not committed is answered 503. */
  readonly storeTime: number;
  readonly idleTime: number;
  /** Until requests that are open at `close` are cut off. */
  readonly closeTime: number;
  readonly connections: number;
  /** Bodies of one caller (an account, a token, all unknown callers) that may arrive at once. */
  readonly bodies: number;
};

/** `idleTime` is longer than the 60 s of Nginx: a server that closes first sometimes loses a call. */
export const defaultLimits: HttpLimits = {
  body: 1024 * 1024,
  head: 32 * 1024,
  headTime: 10_000,
  requestTime: 30_000,
  storeTime: 20_000,
  idleTime: 75_000,
  closeTime: 10_000,
  connections: 1_000,
  bodies: 200,
};

type LimitedServerOptions = Pick<HttpServerOptions, 'exposeHeadRoutes' | 'rewriteUrl'> & {
  readonly logger?: Logger | undefined;
  /** A call was cut off while its body arrived. */
  readonly onCutOff?: (() => void) | undefined;
};

const maxCallersLogged = 1_000;

/**
 * @param trustedProxies addresses whose X-Forwarded-For is trusted
 * @param refusePath answers a call whose path cannot be decoded; must not throw
 */
export function openLimitedServer(
  limits: HttpLimits,
  trustedProxies: readonly string[],
  refusePath: (request: FastifyRequest, reply: FastifyReply) => void,
  { logger, onCutOff, ...others }: LimitedServerOptions = {},
) {
  const proxies = createAddressList(trustedProxies);
  const options: HttpServerOptions = {
    forceCloseConnections: 'idle',
    connectionTimeout: limits.idleTime,
    keepAliveTimeout: limits.idleTime,
    requestTimeout: limits.requestTime,
    http: {
      headersTimeout: limits.headTime,
      maxHeaderSize: limits.head,
      // Node's default checks the two times above every 30 s only.
      connectionsCheckingInterval: Math.min(1_000, limits.headTime),
    },
    trustProxy: trustedProxies.length > 0 && ((address: string) => proxies.has(address)),
    // The head is limited. The default limit of a part of a path is 100 characters, less than a token.
    routerOptions: { maxParamLength: limits.head },
    exposeHeadRoutes: false,
    frameworkErrors: (_error, request, reply) => refusePath(request, reply),
    ...others,
  };
  const server = openHttpServer(limits.body, options);
  const warn = logger && warnOnceAMinute(logger, maxCallersLogged);
  const bodies = countArrivingBodies(limits.bodies, (caller) => {
    onCutOff?.();
    warn?.(caller, { caller }, 'call cut off: too many bodies arrive at once');
  });
  // After the checks of the head, which name the caller.
  server.addHook('preParsing', ({ raw }, reply, _body, done) => {
    bodies.add(raw, reply.raw);
    done();
  });
  const connections = limitConnections(limits.connections, server.server, bodies);
  /** Answers open requests until `closeTime` or the signal. */
  const close = async (cutOff?: AbortSignal): Promise<void> => {
    const cutAll = (): void => server.server.closeAllConnections();
    const cut = setTimeout(cutAll, limits.closeTime);
    cutOff?.addEventListener('abort', cutAll, { once: true });
    const closed = server.close();
    connections.closeIdle();
    if (cutOff?.aborted) cutAll();
    await closed.finally(() => {
      clearTimeout(cut);
      cutOff?.removeEventListener('abort', cutAll);
    });
  };
  return { server, close };
}

/** Answers a call that has no route before its body is read. Hooks that are added to `server` earlier come first. */
export function answerUnknownPaths(
  server: FastifyInstance,
  answer: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>,
): void {
  server.addHook('onRequest', (request, reply, done) =>
    request.is404 ? void answer(request, reply) : done(),
  );
  // With a handler of its own, `server` runs its hooks for such a call.
  server.setNotFoundHandler(answer);
}

/**
 * Beyond the limit, a new connection replaces the one that has been idle longest; if none is idle, the one whose body has
 * been arriving longest; otherwise the new one is closed. With `server.maxConnections`, a caller could lock out all others.
 */
function limitConnections(
  maxConnections: number,
  server: Server,
  { cutOffLongest }: Pick<ArrivingBodies, 'cutOffLongest'>,
) {
  const all = new Set<Socket>();
  /** Longest idle first. */
  const idle = new Set<Socket>();
  const requests = new Map<Socket, number>();

  server.on('connection', (socket: Socket) => {
    const [longestIdle] = idle;
    all.add(socket);
    idle.add(socket);
    socket.once('close', () => {
      all.delete(socket);
      idle.delete(socket);
      requests.delete(socket);
    });
    if (all.size > maxConnections) {
      const replaced = longestIdle ?? cutOffLongest()?.socket ?? socket;
      // Its close event comes later.
      all.delete(replaced);
      idle.delete(replaced);
      replaced.destroy();
    }
  });
  server.on('request', ({ socket }, response) => {
    idle.delete(socket);
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      const left = (requests.get(socket) ?? 1) - 1;
      if (left > 0) requests.set(socket, left);
      else requests.delete(socket);
      if (left === 0 && all.has(socket)) idle.add(socket);
    });
  });

  return {
    closeIdle: (): void => {
      for (const socket of idle) socket.destroy();
    },
  };
}
