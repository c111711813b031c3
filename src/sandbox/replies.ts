import type { Destination } from '../domain/message.ts';
import type { OutgoingDeliveryReport } from '../wire/encode-delivery-report.ts';
import {
  type AcceptedMessage,
  type Callback,
  type DeliverySettings,
  deliver,
  reportedAddress,
  reportOrigin,
} from './delivery.ts';
import { createUuid, seededRandom } from './seeded-values.ts';

/** A recipient's reply to an SMS, on delivery. */
type Reply = { readonly receivedId: string; readonly from: string; readonly text: string };

/** Invented; the last one opts out. */
const texts: readonly string[] = ['Yes', 'No', 'Thanks, who is this?', 'STOP'];

/** Undefined if the recipient does not reply. The same seed, MessageID and address always give the same. */
export function replyOf(
  message: AcceptedMessage,
  destination: Destination,
  settings: DeliverySettings,
): Reply | undefined {
  if (settings.replyRate === 0 || message.channel !== 'sms' || message.simulated) return undefined;
  const { seed, replyRate } = settings;
  const parts = [seed, message.messageId, destination.Recipient] as const;
  if (seededRandom('reply', ...parts) >= replyRate || !deliver(message, destination, settings).delivered) {
    return undefined;
  }
  return {
    receivedId: createUuid('received', ...parts),
    from: reportedAddress(message, destination),
    text: texts[Math.floor(seededRandom('reply text', ...parts) * texts.length)] ?? '',
  };
}

/** The webhook call for a reply (docs/reference/interfaces.md: `SMSReply`, `RECEIVED`). */
export function replyReport(
  message: AcceptedMessage,
  destination: Destination,
  callback: Callback,
  settings: DeliverySettings,
): OutgoingDeliveryReport | undefined {
  const reply = replyOf(message, destination, settings);
  return (
    reply && {
      ...reportOrigin(message, callback),
      type: 'SMSReply',
      destination: reply.from,
      status: 'RECEIVED',
      result: 'RECEIVED',
      units: {},
      inbound: { receivedId: reply.receivedId, text: reply.text },
    }
  );
}
