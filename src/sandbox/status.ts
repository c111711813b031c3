import { reportTypes } from '../wire/report-values.ts';
import type { MessageStatus, RecipientStatus, StatusAnswer, StatusRequest } from '../wire/status.ts';
import { type Delivery, type DeliveryChances, deliver, priceText } from './delivery.ts';
import type { KeptMessage, KeptMessages } from './kept-messages.ts';
import { unauthorizedWords } from './receive.ts';
import { isTaken } from './token.ts';

/** What the look-up knows besides what is asked. */
export type StatusService = DeliveryChances & {
  /** The only token that is taken, or undefined for any. */
  readonly token: string | undefined;
  readonly messages: KeptMessages;
};

/** Answers a status look-up as things stand at `now`. */
export function lookUp(asked: StatusRequest, service: StatusService, now: Date): StatusAnswer {
  if (!isTaken(asked.authToken, service.token)) return { kind: 'unauthorized', words: unauthorizedWords };
  const kept = service.messages.find(asked.messageId);
  if (kept === undefined) return { kind: 'unknown', messageId: asked.messageId };
  return { kind: 'found', status: statusOf(kept, asked, service, now) };
}

/** The service has no accounts; the field is there. */
const account = 'SANDBOX';

function statusOf(
  kept: KeptMessage,
  { recordsPerPage, page }: StatusRequest,
  chances: DeliveryChances,
  now: Date,
): MessageStatus {
  const { message, destinations } = kept;
  const first = (page - 1) * recordsPerPage;
  const shown = destinations.slice(first, first + recordsPerPage);
  const completed = now.getTime() >= message.sentAt.getTime();
  const totals = completed ? totalsOf(kept, chances) : { success: 0, failed: 0, price: 0 };
  const { messageId, jobNumber, reference, subAccount, department, timeZone, acceptedAt } = message;
  return {
    messageId,
    state: completed ? 'Completed' : 'Pending',
    jobNumber,
    account,
    ...(subAccount === undefined ? {} : { subAccount }),
    ...(department === undefined ? {} : { department }),
    ...(reference === undefined ? {} : { reference }),
    createdTimeUtc: acceptedAt.toISOString(),
    ...(timeZone === undefined ? {} : { timeZone }),
    count: destinations.length,
    complete: totals.success + totals.failed,
    success: totals.success,
    failed: totals.failed,
    price: priceText(totals.price),
    recordsPerPage,
    page,
    recipients: shown.map((destination, index) => {
      const delivery = deliver(message, destination, chances);
      const base = { type: reportTypes[message.channel], sequence: first + index + 1 };
      return completed
        ? { ...base, ...asReported(delivery), sentTimeUtc: message.sentAt.toISOString() }
        : { ...base, ...asPending(delivery) };
    }),
  };
}

type OfDelivery = Omit<RecipientStatus, 'type' | 'sequence'>;

function asReported({ destination, status, result, price }: Delivery): OfDelivery {
  return { destination, status, result, price: priceText(price) };
}

function asPending({ destination }: Delivery): OfDelivery {
  return { destination, status: 'Pending', result: '', price: priceText(0) };
}

type Totals = { readonly success: number; readonly failed: number; readonly price: number };

/** Of messages that were looked up after their end: every page shows them, and counting parts takes its time. */
const totalsSeen = new WeakMap<KeptMessage, Totals>();

function totalsOf(kept: KeptMessage, chances: DeliveryChances): Totals {
  const seen = totalsSeen.get(kept);
  if (seen) return seen;
  const deliveries = kept.destinations.map((destination) => deliver(kept.message, destination, chances));
  const success = deliveries.filter(({ delivered }) => delivered).length;
  const totals = {
    success,
    failed: deliveries.length - success,
    price: deliveries.reduce((sum, { price }) => sum + price, 0),
  };
  totalsSeen.set(kept, totals);
  return totals;
}
