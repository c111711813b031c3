import { isIP } from 'node:net';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../platform/logger.ts';
import type { FailedCheck } from './caller-checks.ts';
import { warnOnceAMinute } from './warn-once-a-minute.ts';

/** Later refusals of the same address in the same minute are answered 429. */
const maxRefusalsPerMinute = 60;
const minute = 60_000;
export const maxAddresses = 5_000;

/** Returns the seconds to wait after too many refusals. */
export type RefusalCount = (request: FastifyRequest) => Promise<number | undefined>;

/** An allowed caller can share its address with others, so only refusals count. */
export async function createRefusalCount(
  server: FastifyInstance,
  maxPerMinute = maxRefusalsPerMinute,
): Promise<RefusalCount> {
  await server.register(rateLimit, {
    global: false,
    cache: maxAddresses,
    max: maxPerMinute,
    timeWindow: minute,
    keyGenerator: addressOf,
  });
  const count = server.createRateLimit();
  return async (request) => {
    const counted = await count(request);
    return !counted.isAllowed && counted.isExceeded ? counted.ttlInSeconds : undefined;
  };
}

/** Returns the address of a caller; for IPv6 its network of 64 bits, because a caller has all addresses of one. */
export function addressOf({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : normalizeIP(ip);
}

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
  onRefused?: (check: Refusal['check']) => void,
): Promise<Refuse> {
  const countRefusal = await createRefusalCount(server);
  const warn = warnOnceAMinute(logger, maxAddresses);

  return async (request, reply, { check, account }) => {
    const key = addressOf(request);
    onRefused?.(check);
    warn(key, { account, check, address: key }, 'call refused');
    const seconds = await countRefusal(request);
    if (seconds !== undefined)
      return reply.code(429).header('retry-after', seconds).send({ error: 'too many calls' });
    return reply.code(404).send({ error: 'not found' });
  };
}
