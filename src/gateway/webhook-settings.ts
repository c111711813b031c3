import type { Problem } from '../domain/problems.ts';
import { type Environment, resolveVariables } from '../platform/secrets.ts';
import { readSignatureKey, wrongSignatureKey } from '../platform/webhook-signature.ts';
import { isLoopbackHost } from '../wire/loopback.ts';

/** Where somebody wants to be told, as it is written: `${NAME}` stands for what is in the environment. */
export type WebhookDefinition = {
  readonly url: string;
  readonly secret: string;
  readonly plainHttp: 'refused' | 'allowed';
};

/** Where somebody is told, and the key that it is signed with. */
export type Webhook = { readonly url: URL; readonly key: Uint8Array };

/** What names of the environment begin with that are for this. */
const allowedPrefix = 'NOTIFY_';

/** @returns undefined where there is a problem, which is noted; it never shows the address, which may hold a secret */
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

/** Whoever writes a campaign is not to have the secrets of accounts and of the database sent to an address of his own. */
function foreignNameProblems(text: string, where: string): Problem[] {
  return [...text.matchAll(/\$\{(\w+)/g)].flatMap(([, name = '']) =>
    name.startsWith(allowedPrefix)
      ? []
      : [
          {
            where,
            what: `"\${${name}}": expected a name of the environment that begins with ${allowedPrefix}.`,
          },
        ],
  );
}

function isInvalidAddress(
  { protocol, hostname, username, password, hash }: URL,
  plainHttp: WebhookDefinition['plainHttp'],
): boolean {
  if (username !== '' || password !== '' || hash !== '') return true;
  if (protocol === 'http:') return plainHttp !== 'allowed' && !isLoopbackHost(hostname);
  return protocol !== 'https:';
}
