import { createHmac } from 'node:crypto';
import { Client } from 'undici';
import type { Problem } from '../domain.ts';
import { type Environment, resolveNames } from '../platform/secrets.ts';
import { isLoopbackHost } from '../wire/required.ts';
import { describeError } from './evidence.ts';
import { readSignatureKey, wrongSignatureKey } from './signature-key.ts';

/** Where somebody wants to be told, as it is written: `${NAME}` stands for what is in the environment. */
export type WrittenWebhook = {
  readonly url: string;
  readonly secret: string;
  readonly plainHttp: 'refused' | 'allowed';
};

/** Where somebody is told, and the key that it is signed with. */
export type Webhook = { readonly url: URL; readonly key: Uint8Array };

/** What names of the environment begin with that are for this. */
const ownNames = 'NOTIFY_';

/** @returns undefined where there is a problem, which is noted; it never shows the address, which may hold a secret */
export function readWebhook(
  { url: written, secret, plainHttp }: WrittenWebhook,
  where: (key: 'url' | 'secret') => string,
  environment: Environment,
  problems: Problem[],
): Webhook | undefined {
  const found: Problem[] = [...foreignNames(written, where('url')), ...foreignNames(secret, where('secret'))];
  if (found.length > 0) {
    problems.push(...found);
    return undefined;
  }
  const address = resolveNames(written, where('url'), environment, found);
  const value = resolveNames(secret, where('secret'), environment, found);
  const url = URL.parse(address);
  const key = readSignatureKey(value);
  if (found.length === 0 && (url === null || wrongAddress(url, plainHttp))) {
    const what =
      '"url" must be an https:// address without user, password and fragment; http:// only to this machine, or with `plainHttp: allowed`.';
    found.push({ where: where('url'), what });
  }
  if (value !== '' && key === undefined) found.push({ where: where('secret'), what: wrongSignatureKey });
  problems.push(...found);
  return found.length === 0 && url !== null && key !== undefined ? { url, key } : undefined;
}

/** Whoever writes a campaign is not to have the secrets of accounts and of the database sent to an address of his own. */
function foreignNames(text: string, where: string): Problem[] {
  return [...text.matchAll(/\$\{(\w+)/g)].flatMap(([, name = '']) =>
    name.startsWith(ownNames)
      ? []
      : [{ where, what: `"\${${name}}": expected a name of the environment that begins with ${ownNames}.` }],
  );
}

function wrongAddress(
  { protocol, hostname, username, password, hash }: URL,
  plainHttp: WrittenWebhook['plainHttp'],
): boolean {
  if (username !== '' || password !== '' || hash !== '') return true;
  if (protocol === 'http:') return plainHttp !== 'allowed' && !isLoopbackHost(hostname);
  return protocol !== 'https:';
}

/** What is told, in one attempt. */
export type WebhookCall = {
  /** The same in each attempt. */
  readonly id: string;
  readonly now: Date;
  readonly body: string;
};

export type WebhookEnd =
  | { readonly kind: 'told' }
  /** 410: whoever it is wants no more of it. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'not told'; readonly problem: string };

/** Milliseconds. */
const timeouts = { connect: 5_000, headers: 15_000, whole: 30_000 };

/** What is read of an answer that says nothing (bytes); what is more is not waited for. */
const answerBytes = 64 * 1024;

/**
 * One POST, signed by the Standard Webhooks scheme; redirects are not followed. Never rejects, and what it says holds
 * neither the address nor a word of the answer.
 *
 * @param cutOff ends the exchange where it stands
 */
export async function callWebhook(
  { url, key }: Webhook,
  { id, now, body }: WebhookCall,
  cutOff: AbortSignal,
): Promise<WebhookEnd> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const client = new Client(url.origin, { allowH2: false, connect: { timeout: timeouts.connect } });
  const late = AbortSignal.timeout(timeouts.whole);
  try {
    const answer = await client.request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'volley',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.headers,
      signal: AbortSignal.any([late, cutOff]),
    });
    const { statusCode } = answer;
    // Whoever sends more has answered all the same.
    await answer.body.dump({ limit: answerBytes, signal: late }).catch(() => undefined);
    if (statusCode >= 200 && statusCode < 300) return { kind: 'told' };
    if (statusCode === 410) return { kind: 'gone' };
    return { kind: 'not told', problem: `answered ${statusCode}` };
  } catch (error) {
    if (cutOff.aborted) return { kind: 'not told', problem: 'no answer until the process had to end' };
    const problem = late.aborted ? `no answer within ${timeouts.whole} ms` : describeError(error);
    return { kind: 'not told', problem };
  } finally {
    await client.destroy().catch(() => undefined);
  }
}
