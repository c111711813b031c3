import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import type { Destination } from '../domain/message.ts';
import { type EncodedReport, encodeDeliveryReport } from '../wire/encode-delivery-report.ts';
import {
  type AcceptedMessage,
  type Callback,
  type DeliveryChances,
  deliver,
  deliveryReport,
} from './delivery.ts';

/** What is to be reported. */
export type Reportable = {
  readonly message: AcceptedMessage;
  readonly destinations: readonly Destination[];
  readonly callback: Callback;
};

/** Calls the webhook, once for every recipient, until it answers 2xx. */
export type ReportSender = {
  /** Reports on each destination after `delay` milliseconds. */
  readonly schedule: (reportable: Reportable, delay: number) => void;
  /** Reports that were neither taken nor given up. */
  readonly outstanding: () => number;
  /** Drops what is outstanding. */
  readonly close: () => Promise<void>;
};

/** An outstanding report costs this and no more; its body is written when it is sent. */
type Outstanding = {
  readonly of: Reportable;
  readonly destination: Destination;
  calls: number;
};

/** Webhook calls under way at once. */
const concurrency = 16;
/** Every 5 minutes for 24 hours (observed.md); with a shorter interval, as many calls. */
const mostCalls = 1 + (24 * 60) / 5;
/** Milliseconds the receiver has to answer. */
const answerTimeout = 30_000;

/** @param retry milliseconds between two calls for the same report */
export function openReportSender(chances: DeliveryChances, retry: number): ReportSender {
  const agent = new Agent({
    connections: concurrency,
    headersTimeout: answerTimeout,
    bodyTimeout: answerTimeout,
  });
  const limit = pLimit(concurrency);
  const timers = new Set<NodeJS.Timeout>();
  let outstanding = 0;
  let closed = false;

  const later = (milliseconds: number, act: () => void): void => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      act();
    }, milliseconds);
    timers.add(timer);
  };

  const call = async (report: Outstanding): Promise<void> => {
    report.calls++;
    const taken = await send(agent, report, chances);
    if (closed) return;
    if (taken || report.calls >= mostCalls) outstanding--;
    else later(retry, () => void limit(call, report));
  };

  return {
    schedule(reportable, delay) {
      if (closed) return;
      outstanding += reportable.destinations.length;
      later(delay, () => {
        for (const destination of reportable.destinations) {
          void limit(call, { of: reportable, destination, calls: 0 });
        }
      });
    },
    outstanding: () => outstanding,
    async close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      limit.clearQueue();
      await agent.destroy();
    },
  };
}

/** @returns whether the receiver answered 2xx; never rejects. */
async function send(
  agent: Agent,
  { of: { message, callback }, destination }: Outstanding,
  chances: DeliveryChances,
): Promise<boolean> {
  const report = deliveryReport(message, deliver(message, destination, chances), callback);
  const encoded = encodeDeliveryReport(report, callback.format);
  try {
    const { address, authorization } = addressOf(callback.url, encoded);
    const answer = await request(address, {
      method: encoded.method,
      headers: { ...encoded.headers, ...authorization },
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
 * Of a GET with the query string, behind one that the address may have of its own. A user and password in it are sent as
 * HTTP Basic.
 *
 * @throws TypeError, URIError for what is no address
 */
function addressOf(
  url: string,
  { method, body }: EncodedReport,
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
