import { hash, timingSafeEqual } from 'node:crypto';

/** What is kept of a secret that is only compared: its SHA-256, 32 bytes. */
export function digestOf(secret: string | Uint8Array): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compared as digests, so that neither content nor length shows in the time it takes. */
export function matchesDigest(given: string | Uint8Array, digest: Uint8Array): boolean {
  return timingSafeEqual(digestOf(given), digest);
}
