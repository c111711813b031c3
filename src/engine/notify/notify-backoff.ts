/** First and longest wait (milliseconds). */
const firstWait = 5_000;
const maxWait = 10 * 60_000;

/** Milliseconds. */
export const notifyWithin = 24 * 3_600_000;

/**
 * The wait before a retry. It doubles each time, less a random part of up to half, so that notifications that failed
 * together are not repeated together.
 *
 * @param attempts so far, from 1
 * @param random from 0 up to, but not including, 1
 */
export function notifyBackoff(attempts: number, random: number): number {
  const cap = Math.min(maxWait, firstWait * 2 ** Math.min(20, attempts - 1));
  return Math.round(cap * (1 - random / 2));
}
