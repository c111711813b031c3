import { createHmac } from 'node:crypto';
import { digestOf, matchesDigest } from './digest.ts';

/**
 * Implements Standard Webhooks (standardwebhooks.com). Its JavaScript library decodes the body to text, so it
 * rejects bodies that are not UTF-8, and it reads the system clock.
 */

const [minKeyBytes, maxKeyBytes] = [24, 64];

export const signatureKeyForm = `whsec_ and ${minKeyBytes} to ${maxKeyBytes} bytes in base64`;

export const wrongSignatureKey = `The key of the signature must be ${signatureKeyForm}.`;

/** Maximum difference in milliseconds. */
const tolerance = 5 * 60 * 1000;

/** Ignores the others; a sender gives two while it rotates its key. */
const maxSignatures = 10;

export function readSignatureKey(value: string): Buffer | undefined {
  const base64 = /^whsec_([\w+/-]+={0,2})$/.exec(value)?.[1] ?? '';
  const key = Buffer.from(base64, 'base64');
  return key.length < minKeyBytes || key.length > maxKeyBytes ? undefined : key;
}

export function signatureHeaders(key: Uint8Array, id: string, body: string | Uint8Array, now: Date) {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${computeSignature(key, id, timestamp, body)}`,
  };
}

/**
 * @param headers names in lower case
 * @param body as received
 * @returns a digest that identifies repetitions of the call; undefined if no signature is valid
 */
export function verifySignature(
  key: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  body: Uint8Array,
  now: Date,
): Buffer | undefined {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const expected = digestOf(computeSignature(key, id, timestamp, body));
  const matches = (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .slice(0, maxSignatures)
    .filter((signature) => matchesDigest(signature.slice('v1,'.length), expected));
  const isRecent =
    /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() - Number(timestamp) * 1000) <= tolerance;
  return id !== '' && isRecent && matches.length > 0 ? expected : undefined;
}

/** HMAC-SHA256 over `id.timestamp.body`. Node reads headers as Latin-1. */
function computeSignature(key: Uint8Array, id: string, timestamp: string, body: string | Uint8Array): string {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`, 'latin1').update(body).digest('base64');
}
