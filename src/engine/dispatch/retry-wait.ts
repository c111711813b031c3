/** The first wait is drawn from up to this (milliseconds); it doubles with every attempt. */
const firstCap = 500;
const highestCap = 10_000;

/** Most milliseconds that are granted to a service that asks for a wait (Retry-After). */
export const longestRetryAfter = 60_000;

/**
 * How long to wait before a request is sent again: exponential with full jitter, so that what failed together does not
 * come back together. What the service asks for is waited out first, and the jitter comes on top of it: it asks the same
 * of everybody.
 *
 * @param attempt the one that failed, from 1
 * @param asked milliseconds that the service asks to be left alone for
 * @param random from 0 up to, but not including, 1
 * @returns whole milliseconds, never more than `longestRetryAfter` and ten seconds
 */
export function retryWait(attempt: number, asked: number | undefined, random: number): number {
  const cap = Math.min(firstCap * 2 ** (attempt - 1), highestCap);
  const granted = Math.min(Math.max(asked ?? 0, 0), longestRetryAfter);
  return Math.round(granted) + Math.floor(random * cap);
}
