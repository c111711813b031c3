/** The longest granted wait, in milliseconds. */
export const maxRetryAfter = 60_000;

/** `Wed, 21 Oct 2026 07:28:00 GMT`: the only date form that a sender may generate (RFC 9110, 5.6.7). */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * @param text seconds or an HTTP date
 * @returns milliseconds from 0 to `maxRetryAfter`; undefined for any other text
 */
export function retryAfterMilliseconds(text: string | undefined, now: Date): number | undefined {
  const wanted = parseMilliseconds(text?.trim() ?? '', now);
  return wanted === undefined ? undefined : Math.min(Math.max(wanted, 0), maxRetryAfter);
}

function parseMilliseconds(text: string, now: Date): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  if (!httpDate.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date - now.getTime();
}

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
