import { hash, timingSafeEqual } from 'node:crypto';

/**
 * A MessageID says whose it is, in 36 lower-case hex digits (interface.md, 2.1: alphanumeric, at most 40): 8 of the run's
 * number, 8 of the request's, and 20 of a check, 80 bits of SHA-256 over the run's key and both numbers. Without the key
 * no MessageID of the run can be made. The function `message_id` of the ledger makes the same.
 */
export function createMessageId(runNumber: number, messageKey: Buffer, request: number): string {
  const numbers = Buffer.alloc(8);
  numbers.writeInt32BE(runNumber);
  numbers.writeInt32BE(request, 4);
  return Buffer.concat([numbers, checkOf(numbers, messageKey)]).toString('hex');
}

/** The numbers have a fixed length and the digest is cut, so nothing can be appended to what a known check stands for. */
function checkOf(numbers: Buffer, messageKey: Buffer): Buffer {
  return hash('sha256', Buffer.concat([messageKey, numbers]), 'buffer').subarray(0, 10);
}

/** What a MessageID says; whether it is true, its check shows. */
export type ParsedMessageId = { readonly runNumber: number; readonly request: number };

const messageIdPattern = /^[0-7][0-9a-f]{7}[0-7][0-9a-f]{27}$/i;

/** @returns undefined for what no ledger makes */
export function parseMessageId(text: string): ParsedMessageId | undefined {
  if (!messageIdPattern.test(text)) return undefined;
  return {
    runNumber: Number.parseInt(text.slice(0, 8), 16),
    request: Number.parseInt(text.slice(8, 16), 16),
  };
}

/** Whether this is the MessageID of a request of the run with this key, in small letters or capitals; in constant time. */
export function isMessageId(text: string, messageKey: Buffer): boolean {
  if (!messageIdPattern.test(text)) return false;
  const bytes = Buffer.from(text, 'hex');
  return timingSafeEqual(bytes.subarray(8), checkOf(bytes.subarray(0, 8), messageKey));
}
