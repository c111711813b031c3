/** Milliseconds between two attempts to tell somebody: at first, and at most. */
const firstWait = 5_000;
const maxWait = 10 * 60_000;

/** After that nobody is told any more (milliseconds). */
export const notifyWithin = 24 * 3_600_000;

/**
 * How long to wait after an attempt in vain: twice as long each time, and by chance up to half of that less, so that many
 * that failed together do not come back together.
 *
 * @param attempts made so far, from 1
 * @param random from 0 up to, but not including, 1
 */
export function notifyBackoff(attempts: number, random: number): number {
  const cap = Math.min(maxWait, firstWait * 2 ** Math.min(20, attempts - 1));
  return Math.round(cap * (1 - random / 2));
}
