import type { Channel, Destination } from '../domain/message.ts';
import { formatLocalTime } from '../platform/zoned-times.ts';
import { deliveryReportTypes, type Units } from '../wire/delivery-report-values.ts';
import type { OutgoingDeliveryReport } from '../wire/encode-delivery-report.ts';
import { internationalNumber } from '../wire/wire-values.ts';
import { unitsFor } from './content.ts';
import type { AcceptedMessage, Callback } from './messages.ts';
import type { SandboxSettings } from './options.ts';
import { createUuid, seededRandom } from './seeded-values.ts';

export type DeliverySettings = Pick<
  SandboxSettings,
  'seed' | 'undeliveredRate' | 'undeliveredAt' | 'replyRate'
>;

export type Delivery = {
  readonly destination: string;
  readonly delivered: boolean;
  readonly status: 'Success' | 'Failed';
  readonly result: string;
  readonly units: Units;
  /** Thousandths of the account's currency. */
  readonly price: number;
};

type Result = { readonly text: string; readonly charged: boolean };

const charged = (text: string): Result => ({ text, charged: true });
const free = (text: string): Result => ({ text, charged: false });

type Results = {
  /** The first is nine times as frequent as all others. */
  readonly delivered: readonly Result[];
  readonly undelivered: readonly Result[];
};

/** Observed for SMS and calls (docs/reference/interfaces.md, "Delivery report calls"); a fax uses those of calls; those of email are invented. */
const callResults: Results = {
  delivered: [charged('Sent Ok'), charged('AnswerPhone')],
  undelivered: [free('No Answer'), free('Busy'), free('Bad Number (NRD)'), free('Call Timed Out')],
};

const results: Readonly<Record<Channel, Results>> = {
  sms: {
    delivered: [charged('delivered'), charged('SentOK'), charged('delivered-to-network')],
    undelivered: [
      charged('Bad Number'),
      free('Destination is blacklisted'),
      free('Invalid Mobile Number (RP-Max)'),
      free('Rejected-07-Invalid Number'),
    ],
  },
  fax: { ...callResults, delivered: [charged('Sent Ok')] },
  email: {
    delivered: [charged('SentOK')],
    undelivered: [free('Mailbox unavailable'), free('Domain not found')],
  },
  voice: callResults,
  tts: callResults,
};

/** Invented: thousandths of the currency per part, page, email or call. */
const unitPrices: Readonly<Record<Channel, number>> = { sms: 80, fax: 90, email: 20, voice: 150, tts: 150 };

/** The same seed, MessageID and address always give the same result. */
export function deliver(
  message: AcceptedMessage,
  destination: Destination,
  settings: DeliverySettings,
): Delivery {
  if (message.aborted) {
    const reported = reportedAddress(message, destination);
    // Observed: a success that is neither delivered nor charged.
    const result = 'Control Deleted';
    return { destination: reported, delivered: false, status: 'Success', result, units: {}, price: 0 };
  }
  for (let submission = 0; submission < message.resubmitted; submission++) {
    const earlier = deliverOnce(message, destination, settings, submission);
    if (earlier.delivered) return earlier;
  }
  return deliverOnce(message, destination, settings, message.resubmitted);
}

function deliverOnce(
  message: AcceptedMessage,
  destination: Destination,
  { seed, undeliveredRate, undeliveredAt }: DeliverySettings,
  submission: number,
): Delivery {
  const { channel, messageId, simulated } = message;
  const address = destination.Recipient;
  const resubmission = submission === 0 ? [] : [submission];
  const draw = (what: string): number => seededRandom(what, seed, messageId, address, ...resubmission);
  const reported = reportedAddress(message, destination);
  const ofPlace = undeliveredAt.find(({ at }) => reported.startsWith(at) || reported.endsWith(at));
  const delivered = simulated || draw('delivery') >= (ofPlace?.rate ?? undeliveredRate);
  const { text, charged } = delivered
    ? pick(results[channel].delivered, Math.max(0, draw('result') - 0.9) * 10)
    : pick(results[channel].undelivered, draw('result'));
  const units: Units =
    message.content.kind === 'call'
      ? // From 5 seconds to a minute.
        { VoiceSeconds: delivered ? 5 + Math.floor(draw('seconds') * 56) : 0 }
      : unitsFor(message.content, destination);
  return {
    destination: reported,
    delivered,
    status: delivered ? 'Success' : 'Failed',
    result: text,
    units,
    // An email and a call count as one.
    price: charged && !simulated ? unitPrices[channel] * (units.SMSParts ?? units.FaxPages ?? 1) : 0,
  };
}

export function reportedAddress({ channel }: AcceptedMessage, { Recipient }: Destination): string {
  return channel === 'email' ? Recipient : toE164(Recipient);
}

function pick(choices: readonly Result[], choice: number): Result {
  return choices[Math.floor(choice * choices.length)] ?? free('');
}

export function deliveryReport(
  message: AcceptedMessage,
  delivery: Delivery,
  callback: Callback,
): OutgoingDeliveryReport {
  return {
    ...reportOrigin(message, callback),
    type: deliveryReportTypes[message.channel],
    destination: delivery.destination,
    status: delivery.status,
    result: delivery.result,
    price: priceText(delivery.price),
    units: delivery.units,
  };
}

/** A recipient's reply to an SMS, on delivery. */
type Reply = { readonly receivedId: string; readonly from: string; readonly text: string };

/** Invented; the last one opts out. */
const replyTexts: readonly string[] = ['Yes', 'No', 'Thanks, who is this?', 'STOP'];

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
    text: replyTexts[Math.floor(seededRandom('reply text', ...parts) * replyTexts.length)] ?? '',
  };
}

/** The webhook call for a reply (docs/reference/interfaces.md: `SMSReply`, `RECEIVED`). */
export function replyReport(
  message: AcceptedMessage,
  { receivedId, from, text }: Reply,
  callback: Callback,
): OutgoingDeliveryReport {
  return {
    ...reportOrigin(message, callback),
    type: 'SMSReply',
    destination: from,
    status: 'RECEIVED',
    result: 'RECEIVED',
    units: {},
    inbound: { receivedId, text },
  };
}

/** Members that all reports of a message share. */
function reportOrigin(message: AcceptedMessage, { url, id, credentials }: Callback) {
  const { messageId, jobNumber, labels, sendAt, zone } = message;
  return {
    version: message.version,
    messageId: id === 'job' && message.interface === 'soap-tts' ? jobNumber : messageId,
    jobNumber,
    ...labels,
    sentTimeUtc: sendAt.toISOString(),
    sentTimeLocal: formatLocalTime(sendAt, zone.region),
    url,
    ...(credentials && { credentials }),
  };
}

export function priceText(thousandths: number): string {
  return `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}`;
}

/**
 * docs/reference/interfaces.md: "phone numbers come in E.164". A national number stays unchanged, because its country is
 * unknown.
 */
function toE164(number: string): string {
  const digits = number.replaceAll(/[\s().-]/g, '').replace(/^\+/, '');
  return internationalNumber.test(digits) ? `+${digits}` : number;
}
