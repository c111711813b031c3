import type { Problem } from '../domain/problems.ts';
import { type Environment, resolveVariables } from '../platform/secrets.ts';
import { readSignatureKey, wrongSignatureKey } from '../platform/webhook-signature.ts';
import { isLoopbackHost, type PlainHttpPolicy } from '../wire/loopback.ts';

/** A webhook in a campaign; `${NAME}` stands for an environment variable. */
type WebhookDefinition = {
  readonly url: string;
  readonly secret: string;
  readonly plainHttp: PlainHttpPolicy;
};

/** `key` signs the calls. */
export type Webhook = { readonly url: URL; readonly key: Uint8Array };

/** The prefix of environment variables that a webhook may use. */
const allowedPrefix = 'NOTIFY_';

/** @returns undefined if it added a problem. No problem shows the address, which may contain a secret */
export function readWebhook(
  { url: written, secret, plainHttp }: WebhookDefinition,
  where: (key: 'url' | 'secret') => string,
  environment: Environment,
  problems: Problem[],
): Webhook | undefined {
  const found: Problem[] = [
    ...foreignNameProblems(written, where('url')),
    ...foreignNameProblems(secret, where('secret')),
  ];
  if (found.length > 0) {
    problems.push(...found);
    return undefined;
  }
  const address = resolveVariables(written, where('url'), environment, found);
  const value = resolveVariables(secret, where('secret'), environment, found);
  const url = URL.parse(address);
  const key = readSignatureKey(value);
  if (found.length === 0 && (url === null || isInvalidAddress(url, plainHttp))) {
    const what =
      '"url" must be an https:// address without user, password and fragment; http:// only to this machine, or with `plainHttp: allowed`.';
    found.push({ where: where('url'), what });
  }
  if (value !== '' && key === undefined) found.push({ where: where('secret'), what: wrongSignatureKey });
  problems.push(...found);
  return found.length === 0 && url !== null && key !== undefined ? { url, key } : undefined;
}

/**
 * The author of a campaign must not be able to send secrets of accounts or the database to an address of
 * their own.
 */
function foreignNameProblems(text: string, where: string): Problem[] {
  return [...text.matchAll(/\$\{(\w+)/g)].flatMap(([, name = '']) =>
    name.startsWith(allowedPrefix)
      ? []
      : [
          {
            where,
            what: `"\${${name}}": expected an environment variable with a name that begins with ${allowedPrefix}.`,
          },
        ],
  );
}

function isInvalidAddress(
  { protocol, hostname, username, password, hash }: URL,
  plainHttp: PlainHttpPolicy,
): boolean {
  if (username !== '' || password !== '' || hash !== '') return true;
  if (protocol === 'http:') return plainHttp !== 'allowed' && !isLoopbackHost(hostname);
  return protocol !== 'https:';
}
