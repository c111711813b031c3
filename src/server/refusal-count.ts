import { isIP } from 'node:net';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';

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
