/** Most milliseconds that are granted to a service that asks for a wait. */
export const maxRetryAfter = 60_000;

/** `Wed, 21 Oct 2026 07:28:00 GMT`, the one date form a sender may write (RFC 9110, 5.6.7). */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long a `Retry-After` asks to wait.
 *
 * @param text seconds or an HTTP date
 * @returns milliseconds from 0 to `maxRetryAfter`, or undefined where the text says nothing
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
