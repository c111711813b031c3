import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Accepts any secret, or only `token` if it is set. Compares hashes, so that the time reveals nothing about
 * the token.
 */
export function isAcceptedSecret(secret: string | undefined, token: string | undefined): boolean {
  if (secret === undefined || secret === '') return false;
  return token === undefined || timingSafeEqual(digest(secret), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
