import type { DeliveryOutcome } from '../domain/delivery-reports.ts';
import { type ReportCall, readCall } from './delivery-report-call.ts';
import {
  observedMapping,
  type ReportField,
  type ReportMapping,
  toWord,
  type Words,
} from './delivery-report-mapping.ts';
import { type ReportText, reportText } from './delivery-report-text.ts';
import {
  detailPairs,
  isYearOfReports,
  priceIn,
  reportYears,
  type Units,
  unitsOf,
  utcTime,
} from './delivery-report-values.ts';
import { asText, isObject } from './json.ts';
import { internationalNumber } from './values.ts';

/**
 * A call of the service's webhook, one per recipient. Its shape is not in interface.md (section 6: "not shown"); names
 * and words are those of observed.md, unless the account has others (`delivery-report-mapping.ts`).
 */

/** What a report says of its recipient. `unrecognised`: neither its status word nor its result is in the mapping. */
export type ReportedOutcome = DeliveryOutcome | 'pending' | 'unrecognised';

type Origin = {
  readonly subAccount?: string;
  readonly department?: string;
  /** The service's own 8-character tracking number. */
  readonly jobNumber?: string;
  /** ISO 8601 in UTC. */
  readonly sentTimeUtc?: string;
};

export type DeliveryReport = Origin & {
  /** Ours, or the one the service generated; a report that has none has a `jobNumber`. */
  readonly messageId?: string;
  /** The recipient's address; phone numbers come in E.164. */
  readonly destination: string;
  /** The service's word: `SMS`, `Email`, `Voice`, `Fax`. */
  readonly type: string;
  readonly outcome: ReportedOutcome;
  /** The service's word that `outcome` was taken from, where no word for `result` went before it. */
  readonly status: string;
  /** Free text, such as `delivered` or `Bad Number`; may be empty. */
  readonly result: string;
  /** Whether the result says that the recipient wants no more messages. */
  readonly optedOut: boolean;
  /** Decimal text in the account's currency. */
  readonly price?: string;
  readonly units: Units;
  /** What stands in it and could not be read, though the rest could; in words. */
  readonly unread?: string;
};

/** A message that came in by the same way: a matched reply or an unmatched one. */
export type InboundMessage = Origin & {
  readonly type: 'SMSReply' | 'SMSInbound';
  /** Of the message that is answered; a reply that could not be matched has none. */
  readonly messageId?: string;
  /** The number it came from. */
  readonly from: string;
  /** May be empty. */
  readonly text: string;
  readonly receivedId?: string;
};

export type DecodedReport =
  | { readonly kind: 'report'; readonly report: DeliveryReport }
  | { readonly kind: 'inbound'; readonly message: InboundMessage }
  | { readonly kind: 'unreadable'; readonly why: string };

/**
 * Reads a call of the webhook. Whoever knows its address can send anything, so nothing here throws and every value has
 * to prove itself; what cannot be read at all is `unreadable`, with the reason.
 *
 * A name that comes twice with different texts makes the whole call unreadable: either could be the forged one, and a
 * guess would be recorded as what the service said.
 */
export function decodeDeliveryReport(
  call: ReportCall,
  mapping: ReportMapping = observedMapping,
): DecodedReport {
  const read = readCall(call);
  if (read.kind === 'unreadable') return read;
  const values = reportText(read.members, mapping);
  if (values.ambiguous !== undefined) return unreadable(`it has several values of ${values.ambiguous}`);
  if (values.tooLong !== undefined) return unreadable(`its ${values.tooLong} is too long`);
  const sentTime = firstTime(values.texts('SentTimeUTC'));
  if (sentTime !== undefined && !isYearOfReports(sentTime))
    return unreadable(`its SentTimeUTC is not of the years ${reportYears.first} to ${reportYears.last}`);

  const type = values.key('Type');
  if (type === undefined) return lacks(values, 'Type');
  const destination = values.key('Destination');
  if (destination === undefined) return lacks(values, 'Destination');
  const address = withPlus(destination);
  const inboundType = inboundTypes.find((candidate) => candidate.toLowerCase() === toWord(type));
  const origin = originOf(values, sentTime);
  if (inboundType)
    return { kind: 'inbound', message: { ...toInbound(values, inboundType, address), ...origin } };

  const messageId = values.key('MessageID');
  // A message of SOAP has a job number at the service, and may have no MessageID there.
  const isOfJob = values.text('MessageID') === undefined && values.key('JobNumber') !== undefined;
  if (messageId === undefined && !isOfJob) return lacks(values, 'MessageID');
  const status = values.key('Status');
  if (status === undefined) return lacks(values, 'Status');
  const essentials = { type, destination: address, status, ...present('messageId', messageId) };
  return { kind: 'report', report: { ...toReport(values, essentials, mapping), ...origin } };
}

const inboundTypes = ['SMSReply', 'SMSInbound'] as const;

/** Who a call says it comes from: the credential pair in it, as far as it is there and stands there once. */
export function reportCredentials(
  call: ReportCall,
  mapping: ReportMapping = observedMapping,
): { readonly sender?: string; readonly apiKey?: string } {
  const read = readCall(call);
  if (read.kind === 'unreadable') return {};
  const values = reportText(read.members, mapping);
  if (values.ambiguous !== undefined) return {};
  return { ...present('sender', values.key('Sender')), ...present('apiKey', values.key('APIKey')) };
}

function unreadable(why: string): DecodedReport {
  return { kind: 'unreadable', why };
}

function lacks({ text }: ReportText, field: ReportField): DecodedReport {
  return unreadable(text(field) === undefined ? `it has no ${field}` : `its ${field} is too long`);
}

/** In a form, a plus sign that its writer forgot to encode is a blank. */
function withPlus(destination: string): string {
  const number = destination.trim();
  return destination.startsWith(' ') && internationalNumber.test(number) ? `+${number}` : destination;
}

type Essentials = Pick<DeliveryReport, 'type' | 'destination' | 'messageId' | 'status'>;

function toReport(values: ReportText, essentials: Essentials, mapping: ReportMapping): DeliveryReport {
  const result = values.text('Result') ?? '';
  return {
    ...essentials,
    outcome:
      meaning(result, mapping.resultWords) ??
      meaning(essentials.status, mapping.statusWords) ??
      'unrecognised',
    result,
    optedOut: mapping.optOutResults.includes(toWord(result)),
    ...priceIn(values.text('Price'), mapping.credits),
    units: readUnits(values),
  };
}

function meaning(text: string, words: Words): Words[string] | undefined {
  const word = toWord(text);
  return Object.hasOwn(words, word) ? words[word] : undefined;
}

function toInbound(values: ReportText, type: InboundMessage['type'], from: string): InboundMessage {
  return {
    type,
    ...present('messageId', values.key('MessageID')),
    from,
    text: values.text('Message') ?? '',
    ...present('receivedId', values.key('ReceivedID')),
  };
}

function originOf({ key }: ReportText, sentTime: string | undefined): Origin {
  return {
    ...present('subAccount', key('SubAccount')),
    ...present('department', key('Department')),
    ...present('jobNumber', key('JobNumber')),
    ...present('sentTimeUtc', sentTime),
  };
}

function firstTime(texts: readonly string[]): string | undefined {
  for (const text of texts) {
    const time = utcTime(text);
    if (time !== undefined) return time;
  }
  return undefined;
}

/** `Detail` was seen as text; an object with the same names is taken too. */
function readUnits({ value }: ReportText): Units {
  const detail = value('Detail');
  if (isObject(detail)) {
    return unitsOf(Object.entries(detail).map(([name, count]) => [name, asText(count) ?? '']));
  }
  return unitsOf(detailPairs(asText(detail) ?? ''));
}

function present<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: string } {
  const entry: { [Key in Name]?: string } = {};
  if (value !== undefined) entry[name] = value;
  return entry;
}
