import { Client } from 'undici';
import { signatureHeaders } from '../platform/webhook-signature.ts';
import { describeError } from './evidence.ts';
import type { Webhook } from './webhook-settings.ts';

export type WebhookCall = {
  /** The same in each attempt. */
  readonly id: string;
  readonly now: Date;
  readonly body: string;
};

export type WebhookResult =
  | { readonly kind: 'acknowledged' }
  /** 410: whoever it is wants no more of it. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly problem: string };

const timeouts = { connect: 5_000, headers: 15_000, whole: 30_000 };

/** What is read of an answer that says nothing (bytes); what is more is not waited for. */
const maxAnswerBytes = 64 * 1024;

/**
 * One POST, signed by the Standard Webhooks scheme; redirects are not followed. Never rejects, and what it says holds
 * neither the address nor a word of the answer.
 *
 * @param signal ends the exchange where it stands
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
    // Whoever sends more has answered all the same.
    await answer.body.dump({ limit: maxAnswerBytes, signal: timeout }).catch(() => undefined);
    if (statusCode >= 200 && statusCode < 300) return { kind: 'acknowledged' };
    if (statusCode === 410) return { kind: 'gone' };
    return { kind: 'failed', problem: `answered ${statusCode}` };
  } catch (error) {
    if (signal.aborted) return { kind: 'failed', problem: 'no answer until the process had to end' };
    const problem = timeout.aborted ? `no answer within ${timeouts.whole} ms` : describeError(error);
    return { kind: 'failed', problem };
  } finally {
    await client.destroy().catch(() => undefined);
  }
}
