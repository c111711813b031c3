import type { EngineContext } from '../../engine/context.ts';
import { digestOf, matchesDigest } from '../../platform/digest.ts';

/** Milliseconds. */
const maxAge = 600_000;

export type OneTimeLink = ReturnType<typeof createOneTimeLink>;

/** Signs a person in who starts the dashboard on their own machine. @param token its name */
export function createOneTimeLink(
  { monotonic, randomBytes }: Pick<EngineContext, 'monotonic' | 'randomBytes'>,
  token: string,
) {
  const secret = randomBytes(32).toString('hex');
  const digest = digestOf(secret);
  const until = monotonic() + maxAge;
  let used = false;
  return {
    /** It is a secret. */
    path: `/sign-in/${secret}`,
    token,
    /** @returns the name of the token, the first time only */
    use: (given: string): string | undefined => {
      if (!matchesDigest(given, digest) || used || monotonic() >= until) return undefined;
      used = true;
      return token;
    },
  };
}
