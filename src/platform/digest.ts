import { hash, timingSafeEqual } from 'node:crypto';

/** The SHA-256 of a secret, kept instead of it for comparison (32 bytes). */
export function digestOf(secret: string | Uint8Array): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Compares digests, so the time reveals neither content nor length. */
export function matchesDigest(given: string | Uint8Array, digest: Uint8Array): boolean {
  return timingSafeEqual(digestOf(given), digest);
}
