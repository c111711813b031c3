import { createHmac } from 'node:crypto';
import { digestOf, isSecretOf } from '../platform/digest.ts';

/**
 * The Standard Webhooks scheme (standardwebhooks.com, "Signature scheme"), by hand: its JavaScript library decodes the
 * body to text and signs that, so that a body which is not UTF-8 has the signature of another one; and it asks the
 * machine for the time.
 */

/** Milliseconds that the time of a call may be off. */
const tolerance = 5 * 60 * 1000;

/** More are not looked at; a sender gives two while it changes its key. */
const mostSignatures = 10;

/**
 * Whether a call is signed with this key: HMAC-SHA256 over `id.timestamp.body`, the bytes as they came.
 *
 * @param headers names in lower case
 * @returns a digest of what is signed, by which the same call is known when it comes again; undefined when it is not signed
 */
export function signatureOf(
  key: Uint8Array,
  headers: Readonly<Record<string, string | undefined>>,
  body: Uint8Array,
  now: Date,
): Buffer | undefined {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const expected = digestOf(
    createHmac('sha256', key).update(`${id}.${timestamp}.`, 'latin1').update(body).digest('base64'),
  );
  const matches = (headers['webhook-signature'] ?? '')
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .slice(0, mostSignatures)
    .filter((signature) => isSecretOf(signature.slice('v1,'.length), expected));
  const inTime =
    /^\d{1,12}$/.test(timestamp) && Math.abs(now.getTime() - Number(timestamp) * 1000) <= tolerance;
  return id !== '' && inTime && matches.length > 0 ? expected : undefined;
}
