import { Client } from 'undici';
import { signatureHeaders } from '../platform/webhook-signature.ts';
import { describeError } from './evidence.ts';
import type { Webhook } from './webhook-settings.ts';

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
