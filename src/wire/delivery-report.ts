import type { DeliveryOutcome } from '../domain/delivery-reports.ts';
import type { DeliveryReportMembers } from './delivery-report-call.ts';
import { type DeliveryReportCall, parseCall } from './delivery-report-call.ts';
import {
  type DeliveryReportField,
  type DeliveryReportMapping,
  type MeaningsByWord,
  observedMapping,
  toWord,
} from './delivery-report-mapping.ts';
import { type DeliveryReportText, deliveryReportText } from './delivery-report-text.ts';
import {
  deliveryReportYears,
  isDeliveryReportYear,
  parseDetailPairs,
  parsePrice,
  parseUtcTime,
  type Units,
  unitsOf,
} from './delivery-report-values.ts';
import { asText, isBlank, isObject } from './json.ts';
import { internationalNumber } from './wire-values.ts';

/**
 * A call of the service's webhook, one per recipient. interface.md does not show its shape (section 6); names
 * and words come from `delivery-report-mapping.ts`.
 */

/** `unrecognised`: the mapping has neither the status nor the result. */
type ReportedOutcome = DeliveryOutcome | 'pending' | 'unrecognised';

type DeliveryReportOrigin = {
  readonly subAccount?: string | undefined;
  readonly department?: string | undefined;
  /** The service's 8-character tracking number. */
  readonly jobNumber?: string | undefined;
  /** ISO 8601 in UTC. */
  readonly sentTimeUtc?: string | undefined;
};

export type DeliveryReport = DeliveryReportOrigin & {
  /** Ours or the service's. A report without it has a `jobNumber`. */
  readonly messageId?: string | undefined;
  /** Phone numbers in E.164. */
  readonly destination: string;
  /** The service's word: `SMS`, `Email`, `Voice`, `Fax`. */
  readonly type: string;
  readonly outcome: ReportedOutcome;
  /** The service's word for the state. */
  readonly status: string;
  /** Free text, such as `Bad Number`; may be empty. */
  readonly result: string;
  readonly optedOut: boolean;
  /** Decimal text in the account's currency. */
  readonly price?: string;
  readonly units: Units;
  /** In words: why a value could not be read, although the rest could. */
  readonly unread?: string;
};

type InboundMessage = DeliveryReportOrigin & {
  readonly type: 'SMSReply' | 'SMSInbound';
  /** Of the message it replies to; absent when the service could not match it. */
  readonly messageId?: string | undefined;
  readonly from: string;
  readonly text: string;
  readonly receivedId?: string | undefined;
};

export type DecodedDeliveryReport =
  | { readonly kind: 'report'; readonly report: DeliveryReport }
  | { readonly kind: 'inbound'; readonly message: InboundMessage }
  /** JSON bodies of calls with one report each. */
  | { readonly kind: 'several'; readonly bodies: readonly Buffer[] }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Reads a call of the webhook. Anyone can call it, so nothing here throws and every value is validated.
 *
 * A name with two different texts makes the call unreadable: either could be forged, and a guess would be
 * recorded as the service's statement.
 */
export function decodeDeliveryReport(
  call: DeliveryReportCall,
  mapping: DeliveryReportMapping = observedMapping,
): DecodedDeliveryReport {
  const read = parseCall(call, mapping.reportsIn);
  if (read.kind !== 'members') return read;
  const values = deliveryReportText(read.members, mapping);
  if (values.ambiguous !== undefined) return unreadable(`it has several values of ${values.ambiguous}`);
  if (values.tooLong !== undefined) return unreadable(`its ${values.tooLong} is too long`);
  const sentTime = values
    .texts('SentTimeUTC')
    .map(parseUtcTime)
    .find((time) => time !== undefined);
  if (sentTime !== undefined && !isDeliveryReportYear(sentTime))
    return unreadable(
      `its SentTimeUTC is not between the years ${deliveryReportYears.first} and ${deliveryReportYears.last}`,
    );

  const type =
    values.text('Type') === undefined ? typeWithout(read.members, mapping) : values.shortText('Type');
  if (type === undefined) return missingField(values, 'Type');
  const destination = values.shortText('Destination');
  if (destination === undefined) return missingField(values, 'Destination');
  const address = restorePlusSign(destination);
  const inboundType = inboundTypes.find((candidate) => candidate.toLowerCase() === toWord(type));
  const origin = {
    subAccount: values.shortText('SubAccount'),
    department: values.shortText('Department'),
    jobNumber: values.shortText('JobNumber'),
    sentTimeUtc: sentTime,
  };
  if (inboundType)
    return { kind: 'inbound', message: { ...origin, ...toInbound(values, inboundType, address) } };

  const messageId = values.shortText('MessageID');
  // A SOAP message may have no MessageID at the service, only a job number.
  const hasOnlyJobNumber = values.text('MessageID') === undefined && origin.jobNumber !== undefined;
  if (messageId === undefined && !hasOnlyJobNumber) return missingField(values, 'MessageID');
  const status = values.shortText('Status');
  if (status === undefined) return missingField(values, 'Status');
  const essentials = { type, destination: address, status, messageId };
  return { kind: 'report', report: { ...toReport(values, essentials, mapping), ...origin } };
}

const inboundTypes = ['SMSReply', 'SMSInbound'] as const;

/** The type of a call that says none; undefined if the account does not say how to recognise it, or it could be either. */
function typeWithout(
  members: DeliveryReportMembers,
  { withoutType }: DeliveryReportMapping,
): string | undefined {
  if (!withoutType) return undefined;
  const has = (name: string): boolean =>
    (members.get(name.toLowerCase()) ?? []).some((value) => !isBlank(asText(value)));
  const isReply = withoutType.reply !== undefined && has(withoutType.reply);
  const isReport = withoutType.report === undefined ? !isReply : has(withoutType.report);
  if (isReply === isReport) return undefined;
  return isReply ? 'SMSReply' : (withoutType.type ?? '');
}

type DeliveryReportCredentials = {
  readonly sender?: string | undefined;
  readonly apiKey?: string | undefined;
};

export function deliveryReportCredentials(
  call: DeliveryReportCall,
  mapping: DeliveryReportMapping = observedMapping,
): DeliveryReportCredentials {
  const read = parseCall(call, mapping.reportsIn);
  if (read.kind === 'unreadable') return {};
  if (read.kind === 'several') {
    // Each report must have the same, or what stands around them all.
    const [first = {}, ...others] = read.bodies.map((body) =>
      deliveryReportCredentials({ method: 'POST', contentType: 'application/json', body }, mapping),
    );
    return others.every(({ sender, apiKey }) => sender === first.sender && apiKey === first.apiKey)
      ? first
      : {};
  }
  const values = deliveryReportText(read.members, mapping);
  if (values.ambiguous !== undefined) return {};
  return { sender: values.shortText('Sender'), apiKey: values.shortText('APIKey') };
}

function unreadable(why: string): DecodedDeliveryReport {
  return { kind: 'unreadable', why };
}

function missingField({ text }: DeliveryReportText, field: DeliveryReportField): DecodedDeliveryReport {
  return unreadable(text(field) === undefined ? `it has no ${field}` : `its ${field} is too long`);
}

/** An unencoded plus sign in a form arrives as a blank. */
function restorePlusSign(destination: string): string {
  const number = destination.trim();
  return destination.startsWith(' ') && internationalNumber.test(number) ? `+${number}` : destination;
}

type Essentials = Pick<DeliveryReport, 'type' | 'destination' | 'messageId' | 'status'>;

function toReport(
  values: DeliveryReportText,
  essentials: Essentials,
  mapping: DeliveryReportMapping,
): DeliveryReport {
  const result = values.text('Result') ?? '';
  return {
    ...essentials,
    outcome:
      lookUpMeaning(result, mapping.resultWords) ??
      lookUpMeaning(essentials.status, mapping.statusWords) ??
      'unrecognised',
    result,
    optedOut: mapping.optOutResults.includes(toWord(result)),
    ...parsePrice(values.text('Price'), mapping.credits),
    units: readUnits(values),
  };
}

function lookUpMeaning(text: string, meanings: MeaningsByWord): MeaningsByWord[string] | undefined {
  const word = toWord(text);
  return Object.hasOwn(meanings, word) ? meanings[word] : undefined;
}

function toInbound(values: DeliveryReportText, type: InboundMessage['type'], from: string): InboundMessage {
  return {
    type,
    messageId: values.shortText('MessageID'),
    from,
    text: values.text('Message') ?? '',
    receivedId: values.shortText('ReceivedID'),
  };
}

/** Observed as text; an object with the same names is accepted too. */
function readUnits({ value }: DeliveryReportText): Units {
  const detail = value('Detail');
  if (isObject(detail)) {
    return unitsOf(Object.entries(detail).map(([name, count]) => [name, asText(count) ?? '']));
  }
  return unitsOf(parseDetailPairs(asText(detail) ?? ''));
}
