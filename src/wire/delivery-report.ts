import type { Channel, DeliveryOutcome } from '../domain.ts';
import { asText, isObject, type JsonObject, member } from './json.ts';
import { decimalText, detailPairs, type Units, unitsOf, utcTime } from './report-values.ts';
import { parseMembers } from './xml.ts';

/**
 * A call of the service's webhook, one per recipient. Its shape is not in interface.md (section 6: "not shown"); names
 * and words are those of observed.md.
 */

/** What a report says of its recipient. `unrecognised`: its status word is not in the mapping. */
export type ReportedOutcome = DeliveryOutcome | 'pending' | 'unrecognised';

export type DeliveryReport = {
  /** Ours, or the one the service generated. */
  readonly messageId: string;
  /** The recipient's address; phone numbers come in E.164. */
  readonly destination: string;
  /** The service's word: `SMS`, `Email`, `Voice`, `Fax`. */
  readonly type: string;
  readonly outcome: ReportedOutcome;
  /** The service's word that `outcome` was taken from. */
  readonly status: string;
  /** Free text, such as `delivered` or `Bad Number`. */
  readonly result: string;
  readonly subAccount?: string;
  readonly department?: string;
  /** The service's own 8-character tracking number. */
  readonly jobNumber?: string;
  /** ISO 8601 in UTC. */
  readonly sentTimeUtc?: string;
  /** Decimal text in the account's currency. */
  readonly price?: string;
  readonly units: Units;
};

/** A message that came in by the same way: a matched reply or an unmatched one. */
export type InboundMessage = {
  readonly type: 'SMSReply' | 'SMSInbound';
  /** Of the message that is answered; a reply that could not be matched has none. */
  readonly messageId?: string;
  /** The number it came from. */
  readonly destination: string;
  readonly text: string;
  readonly receivedId?: string;
};

export type DecodedReport =
  | { readonly kind: 'report'; readonly report: DeliveryReport }
  | { readonly kind: 'inbound'; readonly message: InboundMessage }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Status words in lower case, and what they mean. */
export type StatusWords = Readonly<Record<string, DeliveryOutcome | 'pending'>>;

/** Source: observed.md, `Status`. */
export const defaultStatusWords: StatusWords = {
  success: 'delivered',
  failed: 'undelivered',
  pending: 'pending',
};

/** The `Type` of a report of this channel (observed.md): text-to-speech is reported as `Voice`. */
export const reportTypes: Readonly<Record<Channel, string>> = {
  email: 'Email',
  sms: 'SMS',
  fax: 'Fax',
  voice: 'Voice',
  tts: 'Voice',
};

/**
 * Reads a call of the webhook, in JSON or in XML (any root element, the same names as its children). Whoever knows its
 * address can send anything, so nothing here throws and every value has to prove itself; what cannot be read at all is
 * `unreadable`, with the reason.
 */
export function decodeDeliveryReport(
  body: Uint8Array,
  statusWords: StatusWords = defaultStatusWords,
): DecodedReport {
  const members = parseMembers(body);
  if (!members) return unreadable('the body is neither a JSON object nor XML');

  const type = text(members, 'Type');
  const destination = text(members, 'Destination');
  if (type === undefined) return unreadable('it has no Type');
  if (destination === undefined) return unreadable('it has no Destination');
  const inboundType = inboundTypes.find((candidate) => candidate.toLowerCase() === type.toLowerCase());
  if (inboundType) return { kind: 'inbound', message: toInbound(members, inboundType, destination) };

  const messageId = text(members, 'MessageID');
  const status = text(members, 'Status');
  if (messageId === undefined) return unreadable('it has no MessageID');
  if (status === undefined) return unreadable('it has no Status');
  const outcome = outcomeOf(status, statusWords);
  return { kind: 'report', report: toReport(members, { type, destination, messageId, status, outcome }) };
}

const inboundTypes = ['SMSReply', 'SMSInbound'] as const;

function unreadable(why: string): DecodedReport {
  return { kind: 'unreadable', why };
}

function outcomeOf(status: string, statusWords: StatusWords): ReportedOutcome {
  const word = status.toLowerCase();
  const outcome = Object.hasOwn(statusWords, word) ? statusWords[word] : undefined;
  return outcome ?? 'unrecognised';
}

type Essentials = Pick<DeliveryReport, 'type' | 'destination' | 'messageId' | 'status' | 'outcome'>;

function toReport(members: JsonObject, essentials: Essentials): DeliveryReport {
  const sentTime = ['SentTimeUTC_RFC3339', 'SentTimeUTC', 'SendTimeUTC']
    .map((name) => utcTime(text(members, name)))
    .find((time) => time !== undefined);
  return {
    ...essentials,
    result: text(members, 'Result') ?? '',
    ...present('subAccount', text(members, 'SubAccount')),
    ...present('department', text(members, 'Department')),
    ...present('jobNumber', text(members, 'JobNumber')),
    ...present('sentTimeUtc', sentTime),
    ...present('price', decimalText(text(members, 'Price'))),
    units: readUnits(member(members, 'Detail')),
  };
}

function toInbound(members: JsonObject, type: InboundMessage['type'], destination: string): InboundMessage {
  return {
    type,
    ...present('messageId', text(members, 'MessageID')),
    destination,
    text: text(members, 'Message') ?? '',
    ...present('receivedId', text(members, 'ReceivedID')),
  };
}

/** `Detail` was seen as text; an object with the same names is taken too. */
function readUnits(detail: unknown): Units {
  if (isObject(detail)) {
    return unitsOf(Object.entries(detail).map(([name, value]) => [name, asText(value) ?? '']));
  }
  return unitsOf(detailPairs(asText(detail) ?? ''));
}

/** A member as text; undefined where it is absent, empty or of another type. */
function text(members: JsonObject, name: string): string | undefined {
  const value = asText(member(members, name));
  return value === undefined || value === '' ? undefined : withoutNul(value);
}

/** Postgres text cannot hold U+0000. */
function withoutNul(value: string): string {
  return value.replaceAll('\0', '');
}

function present<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: string } {
  const entry: { [Key in Name]?: string } = {};
  if (value !== undefined) entry[name] = value;
  return entry;
}
