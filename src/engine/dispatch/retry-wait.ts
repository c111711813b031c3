import { maxRetryAfter } from '../../gateway/retry-after.ts';

/** Limit of the first wait (milliseconds); doubled by every attempt. */
const firstCap = 500;
const maxCap = 10_000;

export const maxRetryWait = maxRetryAfter + maxCap;

/**
 * Exponential backoff with full jitter, added to what the service asks for, because it asks every client for the
 * same.
 *
 * @param attempt the one that failed, from 1
 * @param requestedWait milliseconds
 * @param random from 0 up to, but not including, 1
 * @returns whole milliseconds
 */
export function retryWait(attempt: number, requestedWait: number | undefined, random: number): number {
  const cap = Math.min(firstCap * 2 ** (attempt - 1), maxCap);
  return (requestedWait ?? 0) + Math.floor(random * cap);
}
