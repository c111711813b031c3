import type { Destination } from '../domain/message.ts';
import { formatLocalTime } from '../platform/zoned-times.ts';
import { type RecordPage, type RecordTime, recordsOnPage } from '../wire/answer-members.ts';
import { deliveryReportTypes } from '../wire/delivery-report-values.ts';
import type { InboundRecord, MessageState, MessageStatus, RecipientStatus } from '../wire/message-status.ts';
import { type Delivery, type DeliverySettings, deliver, priceText, replyOf } from './delivery.ts';
import type { AcceptedMessage } from './messages.ts';

/** A required field, although the sandbox has no accounts. */
const account = 'SANDBOX';

export function stateOf({ sendAt }: AcceptedMessage, now: Date): MessageState {
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
): MessageStatus {
  const state = stateOf(message, now);
  const totals = state === 'Completed' ? totalsOf(message, settings) : countTotals(message, settings, now);
  const { messageId, jobNumber, labels, zone, destinations } = message;
  const first = (page.page - 1) * page.recordsPerPage;
  return {
    ...page,
    messageId,
    state,
    jobNumber,
    account,
    ...labels,
    createdTime: timeIn(message, message.acceptedAt),
    ...(message.delayed ? { delayedTime: timeIn(message, message.sendAt) } : {}),
    timeZone: zone.written,
    count: destinations.length,
    complete: totals.success + totals.failed,
    success: totals.success,
    failed: totals.failed,
    price: priceText(totals.price),
    recipients: recordsOnPage(destinations, page).map((destination, index): RecipientStatus => {
      const { Recipient: _, ...fields } = destination;
      const delivery = deliveryAt(message, destination, settings, now);
      return {
        type: deliveryReportTypes[message.channel],
        sequence: first + index + 1,
        fields,
        ...recipientOutcome(message, destination, delivery, settings),
        ...(withReplies ? { replies: delivery ? repliesOf(message, destination, settings) : [] } : {}),
      };
    }),
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

export function repliesOf(
  message: AcceptedMessage,
  destination: Destination,
  settings: DeliverySettings,
): readonly InboundRecord[] {
  const reply = replyOf(message, destination, settings);
  if (reply === undefined) return [];
  return [{ ...reply, receivedTime: timeIn(message, message.sendAt), timeZone: message.zone.written }];
}

function timeIn({ zone }: AcceptedMessage, at: Date): RecordTime {
  return { utc: formatLocalTime(at, 'UTC'), local: formatLocalTime(at, zone.region) };
}

function recipientOutcome(
  message: AcceptedMessage,
  destination: Destination,
  delivery: Delivery | undefined,
  settings: DeliverySettings,
): Pick<RecipientStatus, 'destination' | 'status' | 'result' | 'price' | 'sentTime'> {
  if (delivery === undefined) {
    const address = deliver(message, destination, settings).destination;
    return { destination: address, status: 'Pending', result: '', price: priceText(0) };
  }
  return {
    destination: delivery.destination,
    status: delivery.status,
    result: delivery.result,
    price: priceText(delivery.price),
    sentTime: timeIn(message, message.sendAt),
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
