import { hash, timingSafeEqual } from 'node:crypto';

/*
 * A MessageID has 36 lower-case hex digits (interface.md, 2.1: alphanumeric, at most 40): 8 of the run number, 8 of
 * the request, 20 of a check: 80 bits of SHA-256 over the run's key and both numbers. Only the key can produce it.
 * The SQL function `message_id` does.
 */

/** Computes the check. Fixed lengths and a truncated digest rule out length extension. */
function checkOf(numbers: Buffer, messageKey: Buffer): Buffer {
  return hash('sha256', Buffer.concat([messageKey, numbers]), 'buffer').subarray(0, 10);
}

const messageIdPattern = /^[0-7][0-9a-f]{7}[0-7][0-9a-f]{27}$/i;

/** @returns its parts, which `isMessageId` has not checked yet; undefined for text that is no MessageID */
export function parseMessageId(text: string) {
  if (!messageIdPattern.test(text)) return undefined;
  return {
    runNumber: Number.parseInt(text.slice(0, 8), 16),
    request: Number.parseInt(text.slice(8, 16), 16),
  };
}

/** Verifies a MessageID with the run's key, in any case, in constant time. */
export function isMessageId(text: string, messageKey: Buffer): boolean {
  if (!messageIdPattern.test(text)) return false;
  const bytes = Buffer.from(text, 'hex');
  return timingSafeEqual(bytes.subarray(8), checkOf(bytes.subarray(0, 8), messageKey));
}
