import type { DeliveryOutcome } from '../domain/delivery-reports.ts';

/**
 * What a deployment of the service calls the fields and states of its delivery reports. The contract shows none of it
 * (interface.md, section 6: "not shown"); what is here by default was seen in one deployment (observed.md), and an account
 * may say otherwise.
 */

/** The fields of a report that are looked for, under their observed names. */
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

/** What a word of the service says has become of a recipient. */
export const wordMeanings = ['delivered', 'undelivered', 'pending'] as const satisfies readonly (
  | DeliveryOutcome
  | 'pending'
)[];
export type WordMeaning = (typeof wordMeanings)[number];

/** Words in lower case, and what they mean. */
export type MeaningsByWord = Readonly<Record<string, WordMeaning>>;

export type DeliveryReportMapping = {
  /** The names to look for, in this order, whatever their case; the first that has a value is taken. */
  readonly fields: Readonly<Record<DeliveryReportField, readonly string[]>>;
  /** Of `Status`. */
  readonly statusWords: MeaningsByWord;
  /** Of `Result`, the whole of it; they win over the word of `Status`. */
  readonly resultWords: MeaningsByWord;
  /** Results, in lower case, that say the recipient wants no more messages. */
  readonly optOutResults: readonly string[];
  /** Replies that say so; read by `isStopWord`. */
  readonly stopWords: readonly string[];
  /** Whether a price below nothing is believed. */
  readonly credits: 'refused' | 'allowed';
};

/** Source: observed.md. */
export const observedMapping: DeliveryReportMapping = {
  fields: {
    MessageID: ['MessageID'],
    Destination: ['Destination'],
    Type: ['Type'],
    Status: ['Status'],
    Result: ['Result'],
    Price: ['Price'],
    Detail: ['Detail'],
    SubAccount: ['SubAccount'],
    Department: ['Department'],
    JobNumber: ['JobNumber'],
    SentTimeUTC: ['SentTimeUTC_RFC3339', 'SentTimeUTC', 'SendTimeUTC'],
    Message: ['Message'],
    ReceivedID: ['ReceivedID'],
    Sender: ['Sender'],
    APIKey: ['APIKey'],
  },
  statusWords: { success: 'delivered', failed: 'undelivered', pending: 'pending' },
  // Aborted by a user and not charged: nobody got it, though its Status is Success.
  resultWords: { 'control deleted': 'undelivered' },
  optOutResults: ['destination is blacklisted'],
  stopWords: ['STOP', 'STOPALL', 'UNSUBSCRIBE', 'OPT OUT', 'OPTOUT', 'CANCEL', 'END', 'QUIT'],
  credits: 'refused',
};

/** A word as `DeliveryReportMapping` has it. */
export function toWord(text: string): string {
  return text.trim().toLowerCase();
}
