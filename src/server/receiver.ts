import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { EngineContext } from '../engine/context.ts';
import { type ListenAddress, listen, openHttpServer } from '../platform/http-server.ts';
import type { Logger } from '../platform/logger.ts';
import { startApplier } from './applier.ts';
import { openStore } from './store.ts';

export type Receiver = {
  /** Without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
};

export type ReceiverOptions = ListenAddress & {
  /** Account names and the secret last part of their path. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly logger: Logger;
};

/** The largest report that is taken; a real one has about a kilobyte. */
const bodyLimit = 1024 * 1024;

/** Headers that may carry a credential; they are not stored. */
const secretHeaders = ['authorization', 'cookie', 'proxy-authorization'];

/**
 * Receives delivery reports at `POST /webhook/<account>/<token>`: the raw bytes are committed, then the call is
 * answered 200 (rule 5), and a background applier works them into the ledger.
 *
 * @throws InputError when the port cannot be had
 */
export async function startReceiver(context: EngineContext, options: ReceiverOptions): Promise<Receiver> {
  const { logger } = options;
  const applier = startApplier(context, logger);
  const store = openStore(context);
  // Reports are stored as they come, whatever they say they are.
  const server = openHttpServer(bodyLimit);

  server.get('/healthz', async () => ({ status: 'ok' }));

  server.post<{ Params: { account: string; token: string } }>(
    '/webhook/:account/:token',
    async (request, reply) => {
      const { account, token } = request.params;
      const expected = options.tokens.get(account);
      if (expected === undefined || !sameSecret(token, expected)) return reply.callNotFound();
      try {
        await store.keep({
          account,
          receivedAt: context.now(),
          method: 'POST',
          contentType: request.headers['content-type'] ?? '',
          headers: storedHeaders(request),
          body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        });
      } catch (error) {
        logger.error(
          { account, error: error instanceof Error ? error.message : String(error) },
          'report not stored',
        );
        return reply.code(503).send({ error: 'not stored; send it again later' });
      }
      applier.wake();
      return reply.code(200).send({ status: 'stored' });
    },
  );

  const url = await listen(server, options).catch(async (error: unknown) => {
    await applier.stop();
    throw error;
  });
  applier.wake();

  return {
    url,
    close: async () => {
      await server.close();
      await applier.stop();
    },
  };
}

/** Compared as digests, so that neither content nor length shows in the time it takes. */
function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function storedHeaders(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined || secretHeaders.includes(name) ? [] : [[name, String(value)]],
    ),
  );
}
