import { maxRetryAfter } from '../../gateway/retry-after.ts';

/** Upper limit of the first wait (milliseconds). It doubles with every attempt. */
const firstCap = 500;
const maxCap = 10_000;

/** No wait is longer (milliseconds). */
export const maxRetryWait = maxRetryAfter + maxCap;

/**
 * The wait before a retry: exponential with full jitter, so that requests that failed together are not repeated
 * together. The jitter is added to what the service asks for, because it asks every client for the same.
 *
 * @param attempt the one that failed, from 1
 * @param requestedWait milliseconds that the service asks for, within `retryAfterMilliseconds`
 * @param random from 0 up to, but not including, 1
 * @returns whole milliseconds
 */
export function retryWait(attempt: number, requestedWait: number | undefined, random: number): number {
  const cap = Math.min(firstCap * 2 ** (attempt - 1), maxCap);
  return (requestedWait ?? 0) + Math.floor(random * cap);
}
