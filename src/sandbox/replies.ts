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

/** What a recipient answers to an SMS, at the moment it is delivered. */
export type Reply = { readonly receivedId: string; readonly from: string; readonly text: string };

/** Made up; the last opts its sender out. */
const texts: readonly string[] = ['Yes', 'No', 'Thanks, who is this?', 'STOP'];

/** Undefined where the recipient does not answer. The same seed, MessageID and address always give the same. */
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

/** The call of the webhook for a reply (observed.md: `SMSReply`, `RECEIVED`); undefined where there is none. */
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
