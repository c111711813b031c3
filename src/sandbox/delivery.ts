import type { Channel, Destination, InterfaceName, SendRequest } from '../domain/message.ts';
import type {
  DeliveryReportToWrite,
  ReportCredentials,
  ReportFormat,
} from '../wire/encode-delivery-report.ts';
import { reportTypes, type Units } from '../wire/report-values.ts';
import { chance } from './chance.ts';
import { type Content, contentOf, unitsFor } from './content.ts';
import { toE164 } from './e164.ts';
import type { ReportId } from './options.ts';
import type { Acceptance } from './receive.ts';

/** A message the service has taken: what its recipients' reports and its status need, and nothing larger. */
export type AcceptedMessage = Acceptance & {
  readonly interface: InterfaceName;
  readonly channel: Channel;
  readonly reference?: string;
  readonly subAccount?: string;
  readonly department?: string;
  readonly timeZone?: string;
  readonly content: Content;
  /** Nothing is delivered and nothing is charged (interface.md, section 1: `SendMode`). */
  readonly simulated: boolean;
  readonly acceptedAt: Date;
  readonly sentAt: Date;
};

/** Where a message's reports go, what they are written in, what they are called by, and who they say they are from. */
export type Callback = {
  readonly url: string;
  readonly format: ReportFormat;
  readonly id: ReportId;
  readonly credentials?: ReportCredentials;
};

export type DeliveryChances = { readonly seed: number; readonly undeliveredRate: number };

/** How it ended for one recipient. */
export type Delivery = {
  /** A phone number in E.164. */
  readonly destination: string;
  readonly delivered: boolean;
  /** The service's words. */
  readonly status: 'Success' | 'Failed';
  readonly result: string;
  readonly units: Units;
  /** Thousandths of the account's currency. */
  readonly price: number;
};

/** A result text, and whether the service charges for it. */
type Result = { readonly text: string; readonly charged: boolean };

const charged = (text: string): Result => ({ text, charged: true });
const free = (text: string): Result => ({ text, charged: false });

type Results = {
  /** The first is nine times as frequent as the others together. */
  readonly delivered: readonly Result[];
  readonly undelivered: readonly Result[];
};

/** Those of SMS and calls were observed (observed.md); a fax takes those of calls; those of email are made up. */
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

/** Made up: thousandths of the account's currency for a part, a page, an email or a call. */
const unitPrices: Readonly<Record<Channel, number>> = { sms: 80, fax: 90, email: 20, voice: 150, tts: 150 };

/** What the service keeps of a request. @param delay milliseconds until it is sent */
export function acceptMessage(
  interfaceName: InterfaceName,
  request: SendRequest,
  { messageId, jobNumber }: Acceptance,
  acceptedAt: Date,
  delay: number,
): AcceptedMessage {
  const { Reference, SubAccount, Department, TimeZone, SendMode, Mode } = request.fields;
  return {
    interface: interfaceName,
    channel: request.channel,
    messageId,
    jobNumber,
    ...(Reference === undefined ? {} : { reference: Reference }),
    ...(SubAccount === undefined ? {} : { subAccount: SubAccount }),
    ...(Department === undefined ? {} : { department: Department }),
    ...(TimeZone === undefined ? {} : { timeZone: TimeZone }),
    content: contentOf(request),
    simulated: [SendMode, Mode].some((mode) => mode?.trim().toLowerCase() === 'test'),
    acceptedAt,
    sentAt: new Date(acceptedAt.getTime() + delay),
  };
}

/** How it ends for one recipient. The same seed, MessageID and address always give the same. */
export function deliver(
  message: AcceptedMessage,
  destination: Destination,
  { seed, undeliveredRate }: DeliveryChances,
): Delivery {
  const { channel, messageId, simulated } = message;
  const address = destination.Recipient;
  const drawn = (what: string): number => chance(what, seed, messageId, address);
  const delivered = simulated || drawn('delivery') >= undeliveredRate;
  const { text, charged } = delivered
    ? pick(results[channel].delivered, Math.max(0, drawn('result') - 0.9) * 10)
    : pick(results[channel].undelivered, drawn('result'));
  const units =
    message.content.kind === 'call'
      ? { VoiceSeconds: delivered ? secondsOfCall(drawn('seconds')) : 0 }
      : unitsFor(message.content, destination);
  return {
    destination: channel === 'email' ? address : toE164(address),
    delivered,
    status: delivered ? 'Success' : 'Failed',
    result: text,
    units,
    price: charged && !simulated ? unitPrices[channel] * quantity(units) : 0,
  };
}

function pick(choices: readonly Result[], choice: number): Result {
  return choices[Math.floor(choice * choices.length)] ?? free('');
}

/** From 5 seconds to a minute. */
function secondsOfCall(choice: number): number {
  return 5 + Math.floor(choice * 56);
}

/** What the price is for: parts or pages; an email and a call count as one. */
function quantity({ SMSParts, FaxPages }: Units): number {
  return SMSParts ?? FaxPages ?? 1;
}

/** The SOAP interface has no version; its reports come as those of the latest of the interfaces of its age. */
const reportVersions: Readonly<Record<InterfaceName, string>> = {
  'rest-2.02': 'v2.02',
  'rest-1.04': 'v1.04',
  'rest-1.02': 'v1.02',
  'soap-tts': 'v1.04',
};

export function deliveryReport(
  message: AcceptedMessage,
  delivery: Delivery,
  { url, id, credentials }: Callback,
): DeliveryReportToWrite {
  const { messageId, jobNumber, subAccount, department, channel, sentAt } = message;
  return {
    version: reportVersions[message.interface],
    messageId: id === 'job' && message.interface === 'soap-tts' ? jobNumber : messageId,
    destination: delivery.destination,
    type: reportTypes[channel],
    status: delivery.status,
    result: delivery.result,
    jobNumber,
    ...(subAccount === undefined ? {} : { subAccount }),
    ...(department === undefined ? {} : { department }),
    sentTimeUtc: sentAt.toISOString(),
    price: priceText(delivery.price),
    units: delivery.units,
    url,
    ...(credentials && { credentials }),
  };
}

/** Thousandths as decimal text. */
export function priceText(thousandths: number): string {
  return `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}`;
}
