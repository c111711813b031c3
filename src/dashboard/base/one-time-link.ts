import { digestOf, matchesDigest } from '../../platform/digest.ts';

/** Signs a person in who starts the dashboard on their own machine. */
export type OneTimeLink = {
  /** The path of the link. It is a secret. */
  readonly path: string;
  /** The name of the token. */
  readonly token: string;
  /** @returns the name of the token, the first time only */
  readonly use: (secret: string) => string | undefined;
};

/** Milliseconds. */
const maxAge = 600_000;

/** @param token the name of the token with which the person is signed in */
export function createOneTimeLink(
  {
    monotonic,
    randomBytes,
  }: { readonly monotonic: () => number; readonly randomBytes: (size: number) => Buffer },
  token: string,
): OneTimeLink {
  const secret = randomBytes(32).toString('hex');
  const digest = digestOf(secret);
  const until = monotonic() + maxAge;
  let used = false;
  return {
    path: `/sign-in/${secret}`,
    token,
    use: (given) => {
      if (!matchesDigest(given, digest) || used || monotonic() >= until) return undefined;
      used = true;
      return token;
    },
  };
}
