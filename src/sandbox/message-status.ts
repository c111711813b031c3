import type { Destination } from '../domain/message.ts';
import { formatLocalTime } from '../platform/zoned-times.ts';
import { type AnswerMembers, pageMembers, type RecordPage, recordsOnPage } from '../wire/answer-members.ts';
import { deliveryReportTypes } from '../wire/delivery-report-values.ts';
import {
  type Delivery,
  type DeliverySettings,
  deliver,
  priceText,
  replyOf,
  reportedAddress,
} from './delivery.ts';
import type { AcceptedMessage } from './messages.ts';

/**
 * The status of a message, in pages of recipients (docs/reference/interfaces.md, "Status look-up"; not in interface.md).
 */

/** A required field, although the sandbox has no accounts. */
const account = 'SANDBOX';

/** Two of the observed states. */
export function stateOf({ sendAt }: AcceptedMessage, now: Date): 'Completed' | 'Pending' {
  return now.getTime() >= sendAt.getTime() ? 'Completed' : 'Pending';
}

/** @param withReplies includes the recipients' replies */
export function statusOf(
  message: AcceptedMessage,
  page: RecordPage,
  {
    settings,
    now,
    withReplies,
  }: { readonly settings: DeliverySettings; readonly now: Date; readonly withReplies: boolean },
): AnswerMembers {
  const { messageId, jobNumber, labels, zone, destinations } = message;
  const state = stateOf(message, now);
  const totals = state === 'Completed' ? totalsOf(message, settings) : countTotals(message, settings, now);
  const first = (page.page - 1) * page.recordsPerPage;
  return {
    Result: 'Success',
    MessageID: messageId,
    Status: state,
    JobNum: jobNumber,
    Account: account,
    SubAccount: labels.subAccount ?? null,
    Department: labels.department ?? null,
    Reference: labels.reference ?? null,
    ...timeMembers('CreatedTime', message, message.acceptedAt),
    ...timeMembers('DelayedTime', message, message.delayed ? message.sendAt : undefined),
    Timezone: zone.written,
    Count: destinations.length,
    Complete: totals.success + totals.failed,
    Success: totals.success,
    Failed: totals.failed,
    Price: priceText(totals.price),
    ...pageMembers(destinations.length, page),
    Recipients: recordsOnPage(destinations, page).map((destination, index) => {
      const delivery = deliveryAt(message, destination, settings, now);
      const replies = delivery ? repliesOf(message, destination, settings) : [];
      return {
        ...recipientMembers(message, destination, delivery, first + index + 1),
        ...(withReplies && { SMSReplies: replies }),
      };
    }),
  };
}

/** The destination's members, in wire order. */
const destinationMembers: readonly string[] = [
  'Attention',
  'Company',
  ...Array.from({ length: 9 }, (_, index) => `Custom${index + 1}`),
];

/** @param position in the message, from 1 */
function recipientMembers(
  message: AcceptedMessage,
  destination: Destination,
  delivery: Delivery | undefined,
  position: number,
): AnswerMembers {
  const fields: Readonly<Record<string, string | undefined>> = destination;
  return {
    Type: deliveryReportTypes[message.channel],
    DestSeq: String(position).padStart(8, '0'),
    Destination: reportedAddress(message, destination),
    ContactID: null,
    Status: delivery?.status ?? 'Pending',
    Result: delivery?.result ?? '',
    ...timeMembers('SentTime', message, delivery && message.sendAt),
    ...Object.fromEntries(destinationMembers.map((name) => [name, fields[name] ?? null])),
    RemoteID: null,
    Price: priceText(delivery?.price ?? 0),
  };
}

/** Undefined while pending. A reached recipient stays so when failed ones are sent again. */
export function deliveryAt(
  message: AcceptedMessage,
  destination: Destination,
  settings: DeliverySettings,
  now: Date,
): Delivery | undefined {
  if (stateOf(message, now) === 'Completed') return deliver(message, destination, settings);
  const { resubmitted } = message;
  if (resubmitted === 0) return undefined;
  // As it was before it was last sent again.
  const earlier = deliver({ ...message, resubmitted: resubmitted - 1 }, destination, settings);
  return earlier.delivered ? earlier : undefined;
}

/** The recipient's reply, or none. */
export function repliesOf(
  message: AcceptedMessage,
  destination: Destination,
  settings: DeliverySettings,
): readonly AnswerMembers[] {
  const reply = replyOf(message, destination, settings);
  if (reply === undefined) return [];
  return [
    {
      ReceivedID: reply.receivedId,
      ...timeMembers('ReceivedTime', message, message.sendAt),
      Timezone: message.zone.written,
      From: reply.from,
      MessageText: reply.text,
    },
  ];
}

/** A time in the zone of the message, and in UTC. */
function timeMembers(name: string, { zone }: AcceptedMessage, at: Date | undefined): AnswerMembers {
  return {
    [`${name}Local`]: at ? formatLocalTime(at, zone.region) : null,
    [`${name}UTC`]: at ? formatLocalTime(at, 'UTC') : null,
  };
}

type Totals = { readonly success: number; readonly failed: number; readonly price: number };

/** The totals of finished messages: every page shows them, and counting parts is slow. */
const totalsCache = new WeakMap<AcceptedMessage, Totals>();

function totalsOf(message: AcceptedMessage, settings: DeliverySettings): Totals {
  const totals = totalsCache.get(message) ?? countTotals(message, settings, message.sendAt);
  totalsCache.set(message, totals);
  return totals;
}

function countTotals(message: AcceptedMessage, settings: DeliverySettings, now: Date): Totals {
  const totals = { success: 0, failed: 0, price: 0 };
  if (stateOf(message, now) !== 'Completed' && message.resubmitted === 0) return totals;
  for (const destination of message.destinations) {
    const delivery = deliveryAt(message, destination, settings, now);
    if (delivery === undefined) continue;
    totals.price += delivery.price;
    totals[delivery.status === 'Success' ? 'success' : 'failed']++;
  }
  return totals;
}
