import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAddressList } from '../platform/address-list.ts';
import { type HttpServerOptions, openHttpServer } from '../platform/http-server.ts';
import { keepConnectionsTo } from './connections.ts';

/** How much of a stranger's time and space a server takes. Times in milliseconds, sizes in bytes. */
export type HttpLimits = {
  /** Of a body; a larger one is answered 413. */
  readonly body: number;
  /** Of the request line and the headers, so of a report in a query string; a larger one is answered 431. */
  readonly head: number;
  /** Until the head of a request is there, from its first byte or, on a new connection, from its opening. */
  readonly headTime: number;
  readonly requestTime: number;
  /** Until a call that is not committed yet is answered 503. */
  readonly storeTime: number;
  /** Until a connection on which nothing moves is closed. */
  readonly idleTime: number;
  /** Until requests that are under way at `close` are cut off. */
  readonly closeTime: number;
  readonly connections: number;
};

/**
 * A report has about a kilobyte. The service and proxies keep connections open between reports; Nginx for 60 s, and a
 * server should do so for longer than who calls it, or a call meets a closed door now and then.
 */
export const usualLimits: HttpLimits = {
  body: 1024 * 1024,
  head: 32 * 1024,
  headTime: 10_000,
  requestTime: 30_000,
  storeTime: 20_000,
  idleTime: 75_000,
  closeTime: 10_000,
  connections: 1_000,
};

export type BoundedServer = {
  readonly server: FastifyInstance;
  /** Takes no more requests, lets those under way finish and answers them, and cuts off what is left after a time, or at the signal. */
  readonly close: (cutOff?: AbortSignal) => Promise<void>;
};

/**
 * @param trustedProxies addresses whose X-Forwarded-For is believed
 * @param refusePath answers a call whose path cannot be decoded, or has too long a part; it must not throw
 */
export function openBoundedServer(
  limits: HttpLimits,
  trustedProxies: readonly string[],
  refusePath: (request: FastifyRequest, reply: FastifyReply) => void,
): BoundedServer {
  const proxies = createAddressList(trustedProxies);
  const options: HttpServerOptions = {
    forceCloseConnections: 'idle',
    connectionTimeout: limits.idleTime,
    keepAliveTimeout: limits.idleTime,
    requestTimeout: limits.requestTime,
    http: {
      headersTimeout: limits.headTime,
      maxHeaderSize: limits.head,
      // How often Node looks at the two times above; every 30 s if it is not told.
      connectionsCheckingInterval: Math.min(1_000, limits.headTime),
    },
    trustProxy: trustedProxies.length > 0 && ((address: string) => proxies.has(address)),
    // A token is longer than the 100 characters of a part of a path that are usual.
    routerOptions: { maxParamLength: 1_024 },
    exposeHeadRoutes: false,
    frameworkErrors: (_error, request, reply) => refusePath(request, reply),
  };
  const server = openHttpServer(limits.body, options);
  const connections = keepConnectionsTo(limits.connections, server.server);
  const close = async (cutOff?: AbortSignal): Promise<void> => {
    const cutAll = (): void => server.server.closeAllConnections();
    const cut = setTimeout(cutAll, limits.closeTime);
    cutOff?.addEventListener('abort', cutAll, { once: true });
    const closed = server.close();
    connections.closeWaiting();
    if (cutOff?.aborted) cutAll();
    await closed.finally(() => {
      clearTimeout(cut);
      cutOff?.removeEventListener('abort', cutAll);
    });
  };
  return { server, close };
}
