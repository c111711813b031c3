import { isIP } from 'node:net';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../platform/logger.ts';
import type { FailedCheck } from './callers.ts';

/** Why a call is refused: for the operator, never for the caller. */
export type Refusal = {
  /** `path`: there is no such path or method. */
  readonly check: FailedCheck | 'path';
  /** One that there is: what a stranger calls an account is not written down, it may be a token at the wrong place. */
  readonly account?: string;
};

export type Refuse = (
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: Refusal,
) => Promise<FastifyReply>;

/** Refusals of one address in a minute that are answered 404; those after them are answered 429. */
const mostRefusals = 60;
const minute = 60_000;
/** Addresses that are remembered; the one longest unheard of is forgotten first. */
const mostAddresses = 5_000;

/**
 * The one way in which a call is refused, whatever is wrong with it: the same 404 as for a path that there is not, and
 * 429 once its address has been refused too often. Calls that are not refused are not counted: all reports of an
 * account come from one address, and a stranger behind it must not hold them up.
 */
export async function openRefusals(
  server: FastifyInstance,
  logger: Logger,
  onRefused: (check: Refusal['check']) => void,
): Promise<Refuse> {
  await server.register(rateLimit, {
    global: false,
    cache: mostAddresses,
    max: mostRefusals,
    timeWindow: minute,
    keyGenerator: addressOf,
  });
  const countRefusal = server.createRateLimit();
  const told = new LRUCache<string, true>({ max: mostAddresses, ttl: minute });

  return async (request, reply, { check, account }) => {
    const key = addressOf(request);
    onRefused(check);
    if (!told.has(key)) {
      told.set(key, true);
      logger.warn({ account, check, address: key }, 'call refused');
    }
    const count = await countRefusal(request);
    if (!count.isAllowed && count.isExceeded) {
      return reply.code(429).header('retry-after', count.ttlInSeconds).send({ error: 'too many calls' });
    }
    return reply.code(404).send({ error: 'not found' });
  };
}

/** Of version 6 the network of 64 bits, for whoever has one address of it has all. */
function addressOf({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : normalizeIP(ip);
}
