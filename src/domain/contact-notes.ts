import type { PlacedCause, SmsEncoding } from './sms.ts';

/** Characters that cost a text SMS parts. */
export type CostlyCharacters = {
  readonly encoding: SmsEncoding;
  readonly causes: readonly PlacedCause[];
  readonly partsMore: number;
};

/** What a plan shows of a few contacts, if they are sent. */
export type ContactNote = {
  /** What was removed around the phone number. */
  readonly removed?: readonly string[];
  readonly bidiControls?: readonly string[];
  /** Past, or '' where the row has none although the campaign names one. */
  readonly pastSendTime?: string;
  readonly costly?: CostlyCharacters;
  /** For a page of messages: its number among all rows that were read, and its values in the order of its header. */
  readonly row?: { readonly number: number; readonly values: readonly string[] };
};
