import { Client } from 'undici';
import type { Problem } from '../domain/problems.ts';
import { isLoopbackHost, type PlainHttpPolicy } from '../platform/address-list.ts';
import { type Environment, resolveVariables } from '../platform/secrets.ts';
import { readSignatureKey, signatureHeaders, wrongSignatureKey } from '../platform/webhook-signature.ts';
import { describeError } from './evidence.ts';

/** A webhook in a campaign; `${NAME}` stands for an environment variable. */
type WebhookDefinition = {
  readonly url: string;
  readonly secret: string;
  readonly plainHttp: PlainHttpPolicy;
};

/** `key` signs the calls. */
export type Webhook = { readonly url: URL; readonly key: Uint8Array };

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

type WebhookCall = {
  /** The same in each attempt. */
  readonly id: string;
  readonly now: Date;
  readonly body: string;
};

type WebhookResult =
  | { readonly kind: 'acknowledged' }
  /** HTTP 410: the receiver wants no more calls. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly problem: string };

const timeouts = { connect: 5_000, headers: 15_000, whole: 30_000 };

/** The rest of a longer answer is not read. */
const maxAnswerBytes = 64 * 1024;

/**
 * Makes one POST by the Standard Webhooks scheme, without redirects. Never rejects. The problem contains
 * neither the address nor the answer.
 *
 * @param signal aborts the exchange
 */
export async function callWebhook(
  { url, key }: Webhook,
  { id, now, body }: WebhookCall,
  signal: AbortSignal,
): Promise<WebhookResult> {
  const client = new Client(url.origin, { allowH2: false, connect: { timeout: timeouts.connect } });
  const timeout = AbortSignal.timeout(timeouts.whole);
  try {
    const answer = await client.request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'volley',
        ...signatureHeaders(key, id, body, now),
      },
      body,
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.headers,
      signal: AbortSignal.any([timeout, signal]),
    });
    const { statusCode } = answer;
    // A longer answer still counts as an answer.
    await answer.body.dump({ limit: maxAnswerBytes, signal: timeout }).catch(() => undefined);
    if (statusCode >= 200 && statusCode < 300) return { kind: 'acknowledged' };
    if (statusCode === 410) return { kind: 'gone' };
    return { kind: 'failed', problem: `answered ${statusCode}` };
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', problem: 'no answer before the process stopped' };
    const problem = timeout.aborted ? `no answer within ${timeouts.whole} ms` : describeError(error);
    return { kind: 'failed', problem };
  } finally {
    await client.destroy().catch(() => undefined);
  }
}
