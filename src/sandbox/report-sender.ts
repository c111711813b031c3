import pLimit from 'p-limit';
import { Agent, request } from 'undici';
import type { Destination } from '../domain.ts';
import { encodeDeliveryReport } from '../wire/encode-delivery-report.ts';
import { type AcceptedMessage, type DeliveryChances, deliver } from './delivery.ts';

/** Calls the webhook, once for every recipient, until it answers 2xx. */
export type ReportSender = {
  /** Reports on the message's recipients after `delay` milliseconds. */
  readonly schedule: (message: AcceptedMessage, destinations: readonly Destination[], delay: number) => void;
  /** Reports that were neither taken nor given up. */
  readonly outstanding: () => number;
  /** Drops what is outstanding. */
  readonly close: () => Promise<void>;
};

/** An outstanding report costs this and no more; its body is written when it is sent. */
type Outstanding = {
  readonly message: AcceptedMessage;
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
    const taken = await post(agent, report, chances);
    if (closed) return;
    if (taken || report.calls >= mostCalls) outstanding--;
    else later(retry, () => void limit(call, report));
  };

  return {
    schedule(message, destinations, delay) {
      if (closed) return;
      outstanding += destinations.length;
      later(delay, () => {
        for (const destination of destinations) void limit(call, { message, destination, calls: 0 });
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
async function post(agent: Agent, report: Outstanding, chances: DeliveryChances): Promise<boolean> {
  const { headers, body } = encodeDeliveryReport(deliver(report.message, report.destination, chances));
  try {
    const answer = await request(report.message.url, {
      method: 'POST',
      headers: { ...headers },
      body,
      dispatcher: agent,
    });
    await answer.body.dump();
    return answer.statusCode >= 200 && answer.statusCode < 300;
  } catch {
    return false;
  }
}
