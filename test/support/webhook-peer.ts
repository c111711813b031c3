import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { listening } from './listening.ts';

/** A call of a webhook, whose signature was found to be right. */
export type WebhookCall = {
  readonly id: string;
  readonly path: string;
  readonly body: string;
  readonly notification: z.output<typeof notificationSchema>;
};

const notificationSchema = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.record(z.string(), z.unknown()),
});

export type WebhookPeer = AsyncDisposable & {
  readonly url: string;
  /** All that have come so far. */
  readonly calls: WebhookCall[];
  /** From now on. */
  readonly answer: (status: number, headers?: Readonly<Record<string, string>>) => void;
  /** Nobody listens until it is called again. */
  readonly refuse: () => void;
  readonly listen: () => Promise<void>;
};

/** A key as Standard Webhooks has it, of the tests only. */
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Somebody who wants to be told: verifies each call with the library of Standard Webhooks, and counts. */
export async function startWebhookPeer(): Promise<WebhookPeer> {
  const calls: WebhookCall[] = [];
  let status = 200;
  let headers: Readonly<Record<string, string>> = {};
  const verify = new Webhook(webhookSecret);
  const server = createServer(async (request, response) => {
    const body = (await buffer(request)).toString('utf8');
    try {
      const verified = verify.verify(body, toStrings(request.headers));
      const id = String(request.headers['webhook-id']);
      calls.push({ id, path: request.url ?? '', body, notification: notificationSchema.parse(verified) });
      response.writeHead(status, headers).end('an answer that nobody reads');
    } catch {
      response.writeHead(401).end();
    }
  });
  const listener = await listening(server);
  return {
    url: `http://127.0.0.1:${listener.port}/told`,
    calls,
    answer: (next, more = {}) => {
      status = next;
      headers = more;
    },
    refuse: listener.stop,
    listen: listener.listen,
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

function toStrings(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
