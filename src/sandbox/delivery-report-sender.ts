import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import type { Destination } from '../domain/message.ts';
import { type EncodedDeliveryReport, encodeDeliveryReport } from '../wire/encode-delivery-report.ts';
import type { Clock } from './clock.ts';
import { type DeliverySettings, deliver, deliveryReport, replyOf, replyReport } from './delivery.ts';
import type { AcceptedMessage, Callback } from './messages.ts';

/** Kept small: the body is written when it is sent. */
type Outstanding = {
  readonly message: AcceptedMessage;
  readonly callback: Callback;
  readonly destination: Destination;
  /** A reply follows the report of its delivery. */
  readonly kind: 'delivery' | 'reply';
  calls: number;
};

const concurrency = 16;
/** Every 5 minutes for 24 hours (docs/reference/interfaces.md, "Delivery report calls"); the same number with a shorter interval. */
const maxCalls = 1 + (24 * 60) / 5;
/** Milliseconds. */
const answerTimeout = 30_000;

/** Calls the webhook once per recipient, until it answers 2xx. @param retry milliseconds of the clock between two calls for a report */
export function openDeliveryReportSender(settings: DeliverySettings, clock: Clock, retry: number) {
  const agent = new Agent({
    connections: concurrency,
    headersTimeout: answerTimeout,
    bodyTimeout: answerTimeout,
  });
  const limit = pLimit(concurrency);
  let outstanding = 0;
  let closed = false;

  const call = async (report: Outstanding): Promise<void> => {
    report.calls++;
    const acknowledged = await send(agent, report, settings, clock.now());
    if (closed) return;
    if (!acknowledged && report.calls < maxCalls) {
      clock.schedule(retry, () => void limit(call, report));
      return;
    }
    outstanding--;
    if (acknowledged && report.kind === 'delivery' && replyOf(report.message, report.destination, settings)) {
      outstanding++;
      void limit(call, { ...report, kind: 'reply', calls: 0 });
    }
  };

  return {
    /** @param delay milliseconds of the clock @returns cancels the reports */
    schedule(message: AcceptedMessage, recipients: readonly Destination[], delay: number): () => void {
      const { callback } = message;
      if (closed || !callback) return () => {};
      let isWaiting = true;
      outstanding += recipients.length;
      const cancel = clock.schedule(delay, () => {
        isWaiting = false;
        for (const destination of recipients)
          void limit(call, { message, callback, destination, kind: 'delivery', calls: 0 });
      });
      return () => {
        if (isWaiting) outstanding -= recipients.length;
        isWaiting = false;
        cancel();
      };
    },
    /** The number of reports neither acknowledged nor abandoned. */
    outstanding: (): number => outstanding,
    async close(): Promise<void> {
      closed = true;
      limit.clearQueue();
      await agent.destroy();
    },
  };
}

/** Undefined if the recipient does not reply. */
function encodeReport(
  { message, callback, destination, kind }: Outstanding,
  settings: DeliverySettings,
): EncodedDeliveryReport | undefined {
  const reply = kind === 'reply' ? replyOf(message, destination, settings) : undefined;
  if (kind === 'reply')
    return reply && encodeDeliveryReport(replyReport(message, reply, callback), callback.format);
  const delivery = deliver(message, destination, settings);
  return encodeDeliveryReport(deliveryReport(message, delivery, callback), callback.format);
}

/** @returns whether the receiver answered 2xx; never rejects */
async function send(
  agent: Agent,
  report: Outstanding,
  settings: DeliverySettings,
  now: Date,
): Promise<boolean> {
  const encoded = encodeReport(report, settings);
  if (encoded === undefined) return true;
  const { callback } = report;
  try {
    const { address, authorization } = requestTarget(callback.url, encoded);
    const answer = await request(address, {
      method: encoded.method,
      headers: {
        ...encoded.headers,
        ...authorization,
        // An e-mail address, and RFC 3339 (docs/reference/interfaces.md, "Delivery report calls").
        'X-Sender': callback.sender,
        'X-Timestamp': now.toISOString(),
      },
      ...(encoded.method === 'GET' ? {} : { body: encoded.body }),
      dispatcher: agent,
    });
    await answer.body.dump();
    return answer.statusCode >= 200 && answer.statusCode < 300;
  } catch {
    return false;
  }
}

/**
 * Appends the query string of a GET. User and password become HTTP Basic.
 *
 * @throws TypeError, URIError for an invalid address
 */
function requestTarget(
  url: string,
  { method, body }: EncodedDeliveryReport,
): { readonly address: URL; readonly authorization: Readonly<Record<string, string>> } {
  const address = new URL(url);
  if (method === 'GET') address.search += `${address.search === '' ? '?' : '&'}${body}`;
  const { username, password } = address;
  if (username === '' && password === '') return { address, authorization: {} };
  address.username = '';
  address.password = '';
  const pair = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return { address, authorization: { Authorization: `Basic ${pair.toString('base64')}` } };
}
