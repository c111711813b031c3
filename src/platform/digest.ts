import { createHash, hash, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** The SHA-256 of a secret, kept instead of it for comparison (32 bytes). */
export function digestOf(secret: string | Uint8Array): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** The SHA-256 of a file (32 bytes). */
export async function digestOfFile(path: string): Promise<Buffer> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk);
  return digest.digest();
}

/** Compares digests, so the time reveals neither content nor length. */
export function matchesDigest(given: string | Uint8Array, digest: Uint8Array): boolean {
  return timingSafeEqual(digestOf(given), digest);
}
