import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createAddressList } from '../platform/address-list.ts';
import { type HttpServerOptions, openHttpServer } from '../platform/http-server.ts';
import { limitConnections } from './connections.ts';

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
};

export type LimitedServer = {
  readonly server: FastifyInstance;
  /** Answers open requests until `closeTime` or the signal. */
  readonly close: (cutOff?: AbortSignal) => Promise<void>;
};

/**
 * @param trustedProxies addresses whose X-Forwarded-For is trusted
 * @param refusePath answers a call whose path cannot be decoded; must not throw
 */
export function openLimitedServer(
  limits: HttpLimits,
  trustedProxies: readonly string[],
  refusePath: (request: FastifyRequest, reply: FastifyReply) => void,
  others: Pick<HttpServerOptions, 'exposeHeadRoutes' | 'rewriteUrl'> = {},
): LimitedServer {
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
  const connections = limitConnections(limits.connections, server.server);
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
