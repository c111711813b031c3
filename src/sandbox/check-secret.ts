import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a secret is taken: any that is there, or only `token` where one is set. Hashes are compared, so that the time
 * it takes says neither how far they agree nor how long the token is.
 */
export function isAcceptedSecret(secret: string | undefined, token: string | undefined): boolean {
  if (secret === undefined || secret === '') return false;
  return token === undefined || timingSafeEqual(digest(secret), digest(token));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
