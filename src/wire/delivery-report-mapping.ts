import type { DeliveryOutcome } from '../domain/delivery-reports.ts';

/**
 * A service's names for the fields and states of delivery reports. The contract does not show them
 * (interface.md, section 6), so the defaults are observed ones, which an account can replace.
 */

/** The fields that Volley reads, by their observed names. */
export const deliveryReportFields = [
  'MessageID',
  'Destination',
  'Type',
  'Status',
  'Result',
  'Price',
  'Detail',
  'SubAccount',
  'Department',
  'JobNumber',
  'SentTimeUTC',
  'Message',
  'ReceivedID',
  'Sender',
  'APIKey',
] as const;
export type DeliveryReportField = (typeof deliveryReportFields)[number];

export const wordMeanings = ['delivered', 'undelivered', 'pending'] as const satisfies readonly (
  | DeliveryOutcome
  | 'pending'
)[];
type WordMeaning = (typeof wordMeanings)[number];

/** The meaning of each lower-case word. */
export type MeaningsByWord = Readonly<Record<string, WordMeaning>>;

export type DeliveryReportMapping = {
  /** In order of preference, any case; the first one with a value counts. A field that is absent has its own name. */
  readonly fields: Readonly<Partial<Record<DeliveryReportField, readonly string[]>>>;
  readonly statusWords: MeaningsByWord;
  /** The meaning of each whole `Result`. It takes precedence over `Status`. */
  readonly resultWords: MeaningsByWord;
  /** Lower-case results that mean the recipient opted out. */
  readonly optOutResults: readonly string[];
  /** Replies that opt the recipient out, compared by `isStopWord`. */
  readonly stopWords: readonly string[];
  /** Whether a negative price is accepted. */
  readonly credits: 'refused' | 'allowed';
  /** How a call without `Type` is recognised; absent: it is unreadable. */
  readonly withoutType?: WithoutType;
  /** Where reports stand in a call: names from the outside, empty for a list; absent: the call is the report. */
  readonly reportsIn?: readonly string[];
};

/** Names of fields in any case, which count when they have a text. */
type WithoutType = {
  /** Of a report; absent: every call that is no reply is one. */
  readonly report?: string | undefined;
  /** Of a reply; absent: no call is one. */
  readonly reply?: string | undefined;
  /** The `Type` that such reports then have, which says what the invoice counts. */
  readonly type?: string | undefined;
};

/** Source: docs/reference/interfaces.md, "Delivery report calls". */
export const observedMapping: DeliveryReportMapping = {
  fields: { SentTimeUTC: ['SentTimeUTC_RFC3339', 'SentTimeUTC', 'SendTimeUTC'] },
  statusWords: { success: 'delivered', failed: 'undelivered', pending: 'pending' },
  // Aborted by a user, not delivered and not charged, although its Status is Success.
  resultWords: { 'control deleted': 'undelivered' },
  optOutResults: ['destination is blacklisted'],
  stopWords: ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'OPT OUT', 'OPTOUT', 'CANCEL', 'END', 'QUIT'],
  credits: 'refused',
};

export function toWord(text: string): string {
  return text.trim().toLowerCase();
}
