import type { Channel, Destination } from '../domain.ts';
import { reportTypes } from '../wire/delivery-report.ts';
import type { DeliveryReportToWrite } from '../wire/encode-delivery-report.ts';
import type { Units } from '../wire/report-values.ts';
import { chance } from './chance.ts';
import { type Content, unitsFor } from './content.ts';

/** A message the service has taken: what its recipients' reports need, and nothing larger. */
export type AcceptedMessage = {
  readonly channel: Channel;
  readonly messageId: string;
  readonly jobNumber: string;
  readonly subAccount?: string;
  readonly department?: string;
  readonly content: Content;
  /** Where the reports go. */
  readonly url: string;
  readonly sentAt: Date;
};

export type DeliveryChances = { readonly seed: number; readonly undeliveredRate: number };

/** A result text, and whether the service charges for it. */
type Result = { readonly text: string; readonly charged: boolean };

const charged = (text: string): Result => ({ text, charged: true });
const free = (text: string): Result => ({ text, charged: false });

/**
 * Result texts. Those of SMS were observed; a fax takes those observed on calls; those of email are made up. The first
 * of `delivered` is nine times as frequent as the others together.
 */
const results: Readonly<Record<'sms' | 'fax' | 'email', { delivered: Result[]; undelivered: Result[] }>> = {
  sms: {
    delivered: [charged('delivered'), charged('SentOK'), charged('delivered-to-network')],
    undelivered: [
      charged('Bad Number'),
      free('Destination is blacklisted'),
      free('Invalid Mobile Number (RP-Max)'),
      free('Rejected-07-Invalid Number'),
    ],
  },
  fax: {
    delivered: [charged('Sent Ok')],
    undelivered: [free('No Answer'), free('Busy'), free('Bad Number (NRD)'), free('Call Timed Out')],
  },
  email: {
    delivered: [charged('SentOK')],
    undelivered: [free('Mailbox unavailable'), free('Domain not found')],
  },
};

/** Thousandths of the account's currency for a part, a page or an email. */
const unitPrices = { sms: 80, fax: 90, email: 20 };

/** What the service reports of one recipient. The same seed, MessageID and address always give the same. */
export function deliver(
  message: AcceptedMessage,
  destination: Destination,
  { seed, undeliveredRate }: DeliveryChances,
): DeliveryReportToWrite {
  const address = destination.Recipient;
  const kind = message.channel === 'sms' || message.channel === 'fax' ? message.channel : 'email';
  const delivered = chance('delivery', seed, message.messageId, address) >= undeliveredRate;
  const choice = chance('result', seed, message.messageId, address);
  const result = delivered
    ? pick(results[kind].delivered, Math.max(0, choice - 0.9) * 10)
    : pick(results[kind].undelivered, choice);
  const units = unitsFor(message.content, destination);
  const { messageId, jobNumber, subAccount, department } = message;
  return {
    messageId,
    destination: address,
    type: reportTypes[message.channel],
    status: delivered ? 'Success' : 'Failed',
    result: result.text,
    jobNumber,
    ...(subAccount === undefined ? {} : { subAccount }),
    ...(department === undefined ? {} : { department }),
    sentTimeUtc: message.sentAt.toISOString(),
    price: result.charged ? price(unitPrices[kind] * quantity(units)) : '0.000',
    units,
    url: message.url,
  };
}

function pick(choices: readonly Result[], choice: number): Result {
  return choices[Math.floor(choice * choices.length)] ?? free('');
}

function quantity({ SMSParts, FaxPages }: Units): number {
  return SMSParts ?? FaxPages ?? 1;
}

function price(thousandths: number): string {
  return `${Math.floor(thousandths / 1000)}.${String(thousandths % 1000).padStart(3, '0')}`;
}
