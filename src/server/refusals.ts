import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Logger } from '../platform/logger.ts';
import type { FailedCheck } from './callers.ts';
import { addressOf, mostAddresses, openRefusalCount } from './refusal-count.ts';

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

const minute = 60_000;

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
  const countRefusal = await openRefusalCount(server);
  const told = new LRUCache<string, true>({ max: mostAddresses, ttl: minute });

  return async (request, reply, { check, account }) => {
    const key = addressOf(request);
    onRefused(check);
    if (!told.has(key)) {
      told.set(key, true);
      logger.warn({ account, check, address: key }, 'call refused');
    }
    const seconds = await countRefusal(request);
    if (seconds !== undefined)
      return reply.code(429).header('retry-after', seconds).send({ error: 'too many calls' });
    return reply.code(404).send({ error: 'not found' });
  };
}
