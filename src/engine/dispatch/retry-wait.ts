import { maxRetryAfter } from '../../gateway/retry-after.ts';

/** The first wait is drawn from up to this (milliseconds); it doubles with every attempt. */
const firstCap = 500;
const maxCap = 10_000;

/** No wait is longer (milliseconds). */
export const maxRetryWait = maxRetryAfter + maxCap;

/**
 * How long to wait before a request is sent again: exponential with full jitter, so that what failed together does not
 * come back together. What the service asks for is waited out first, and the jitter comes on top of it: it asks the same
 * of everybody.
 *
 * @param attempt the one that failed, from 1
 * @param requestedWait milliseconds that the service asks to be left alone for, as `retryAfterMilliseconds` bounds them
 * @param random from 0 up to, but not including, 1
 * @returns whole milliseconds
 */
export function retryWait(attempt: number, requestedWait: number | undefined, random: number): number {
  const cap = Math.min(firstCap * 2 ** (attempt - 1), maxCap);
  return (requestedWait ?? 0) + Math.floor(random * cap);
}
