import type { DeliveryReportFormat } from '../domain/delivery-reports.ts';
import type { Channel, Destination, InterfaceName } from '../domain/message.ts';
import { formatLocalTime } from '../platform/zoned-times.ts';
import { deliveryReportTypes, type Units } from '../wire/delivery-report-values.ts';
import type { DeliveryReportCredentials, OutgoingDeliveryReport } from '../wire/encode-delivery-report.ts';
import { internationalNumber } from '../wire/wire-values.ts';
import { type Content, unitsFor } from './content.ts';
import type { DeliveryReportId, UndeliveredAt } from './options.ts';
import type { Acceptance } from './receive-request.ts';
import { seededRandom } from './seeded-values.ts';

/** An accepted message: only what its delivery reports and status need. */
export type AcceptedMessage = Acceptance & {
  readonly interface: InterfaceName;
  readonly version: string;
  readonly channel: Channel;
  readonly labels: MessageLabels;
  readonly zone: MessageZone;
  readonly content: Content;
  /** Not delivered and not charged (interface.md, section 1: `SendMode`). */
  readonly simulated: boolean;
  readonly acceptedAt: Date;
  /** Its SendTime, or as soon as possible. */
  readonly sendAt: Date;
  /** Waits for a SendTime. */
  readonly delayed: boolean;
  /** A caller stopped it before it was sent. */
  readonly aborted: boolean;
  /** How often a caller had it sent again to failed recipients. */
  readonly resubmitted: number;
};

/** What the sender calls the message, and whose it is. */
type MessageLabels = {
  readonly reference?: string;
  readonly subAccount?: string;
  readonly department?: string;
};

/** The zone of a message's local times, or the sender's default. */
export type MessageZone = {
  readonly written: string;
  readonly region: string;
};

export type Callback = {
  readonly url: string;
  readonly format: DeliveryReportFormat;
  readonly id: DeliveryReportId;
  /** An e-mail address, for the header of every call. */
  readonly sender: string;
  readonly credentials?: DeliveryReportCredentials;
};

export type DeliverySettings = {
  readonly seed: number;
  readonly undeliveredRate: number;
  readonly undeliveredAt: readonly UndeliveredAt[];
  /** Share of reached SMS recipients that reply. */
  readonly replyRate: number;
};

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
  if (message.aborted) return abortedDelivery(message, destination);
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
  const units =
    message.content.kind === 'call'
      ? { VoiceSeconds: delivered ? secondsOfCall(draw('seconds')) : 0 }
      : unitsFor(message.content, destination);
  return {
    destination: reported,
    delivered,
    status: delivered ? 'Success' : 'Failed',
    result: text,
    units,
    price: charged && !simulated ? unitPrices[channel] * quantity(units) : 0,
  };
}

/** Observed: a success that is neither delivered nor charged. */
function abortedDelivery(message: AcceptedMessage, destination: Destination): Delivery {
  return {
    destination: reportedAddress(message, destination),
    delivered: false,
    status: 'Success',
    result: 'Control Deleted',
    units: {},
    price: 0,
  };
}

export function reportedAddress({ channel }: AcceptedMessage, { Recipient }: Destination): string {
  return channel === 'email' ? Recipient : toE164(Recipient);
}

function pick(choices: readonly Result[], choice: number): Result {
  return choices[Math.floor(choice * choices.length)] ?? free('');
}

/** Returns 5 seconds to a minute. */
function secondsOfCall(choice: number): number {
  return 5 + Math.floor(choice * 56);
}

/** Parts or pages; an email and a call count as one. */
function quantity({ SMSParts, FaxPages }: Units): number {
  return SMSParts ?? FaxPages ?? 1;
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

/** Members that all reports of a message share. */
export function reportOrigin(message: AcceptedMessage, { url, id, credentials }: Callback) {
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

/** Formats a price as decimal text. */
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
