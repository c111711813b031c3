import { isIP } from 'node:net';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Refusals of one address in a minute that are answered as ever; those after them are told to wait. */
export const usualRefusals = 60;
const minute = 60_000;
/** Addresses that are remembered; the one longest unheard of is forgotten first. */
export const mostAddresses = 5_000;

/** Counts a refusal; gives the seconds to wait where there were too many. */
export type RefusalCount = (request: FastifyRequest) => Promise<number | undefined>;

/** Calls that are not refused are not counted: who is in order may share an address with a stranger. */
export async function openRefusalCount(server: FastifyInstance, most = usualRefusals): Promise<RefusalCount> {
  await server.register(rateLimit, {
    global: false,
    cache: mostAddresses,
    max: most,
    timeWindow: minute,
    keyGenerator: addressOf,
  });
  const count = server.createRateLimit();
  return async (request) => {
    const counted = await count(request);
    return !counted.isAllowed && counted.isExceeded ? counted.ttlInSeconds : undefined;
  };
}

/** Of version 6 the network of 64 bits, for whoever has one address of it has all. */
export function addressOf({ ip }: FastifyRequest): string {
  return isIP(ip) === 0 ? 'unknown' : normalizeIP(ip);
}
