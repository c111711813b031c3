import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../platform/logger.ts';
import type { FailedCheck } from './caller-checks.ts';
import { addressOf, createRefusalCount, maxAddresses } from './refusal-count.ts';
import { warnOnceAMinute } from './warn-once-a-minute.ts';

/** Logged, never sent to the caller. */
type Refusal = {
  /** `path`: no such path or method. */
  readonly check: FailedCheck | 'path';
  /** An existing account; another name can be a misplaced token. */
  readonly account?: string;
};

type Refuse = (request: FastifyRequest, reply: FastifyReply, refusal: Refusal) => Promise<FastifyReply>;

/**
 * Refuses calls with the same answers for every cause, and logs an address once a minute. Allowed calls do not count: all
 * delivery reports of an account come from one address, and another caller with it must not delay them.
 */
export async function createRefuse(
  server: FastifyInstance,
  logger: Logger,
  onRefused: (check: Refusal['check']) => void,
): Promise<Refuse> {
  const countRefusal = await createRefusalCount(server);
  const warn = warnOnceAMinute(logger, maxAddresses);

  return async (request, reply, { check, account }) => {
    const key = addressOf(request);
    onRefused(check);
    warn(key, { account, check, address: key }, 'call refused');
    const seconds = await countRefusal(request);
    if (seconds !== undefined)
      return reply.code(429).header('retry-after', seconds).send({ error: 'too many calls' });
    return reply.code(404).send({ error: 'not found' });
  };
}
