import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import { listening } from './listening.ts';

/** A call with a valid signature. */
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
  readonly calls: WebhookCall[];
  readonly answer: (status: number, headers?: Readonly<Record<string, string>>) => void;
  /** Refuses connections until `listen`. */
  readonly refuse: () => void;
  readonly listen: () => Promise<void>;
};

/** For tests only. */
export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** A receiver of notifications that verifies calls with the library of Standard Webhooks. */
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
      response.writeHead(status, headers).end('an unread answer');
    } catch {
      response.writeHead(401).end();
    }
  });
  const listener = await listening(server);
  return {
    url: `http://127.0.0.1:${listener.port}/notifications`,
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
