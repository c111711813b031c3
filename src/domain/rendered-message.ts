import type { RejectionReason } from './contacts.ts';
import type { Channel, Destination, Keypad, MessageFields } from './message.ts';
import type { SmsCause, SmsEncoding } from './sms.ts';

/** A message as its reader gets it. */
export type RenderedMessage = {
  readonly channel: Channel;
  readonly destination: Destination;
  /** As in the request; what the service merges is still a placeholder. */
  readonly fields: MessageFields;
  /** The SMS as it is read; null in other channels. */
  readonly sms: RenderedSms | null;
  readonly keypads: readonly Keypad[];
  readonly files: readonly RenderedFile[];
  /** By audio field. */
  readonly audio: Readonly<Record<string, RenderedFile>>;
  /** Null: those that Volley filled are not known any more. */
  readonly placeholders: readonly FilledPlaceholder[] | null;
};

export type RenderedSms = {
  readonly encoding: SmsEncoding;
  /** Their texts together are the message, before the service fills its own placeholders. */
  readonly parts: readonly { readonly text: string; readonly characters: number }[];
  /** Characters that fit into each part. */
  readonly charactersPerPart: number;
  /** What forces UCS-2. */
  readonly causes: readonly SmsCause[];
};

/** `pages` and `seconds` are null if the format does not say how many there are. */
export type RenderedFile = {
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly pages: number | null;
  readonly seconds: number | null;
};

export type FilledPlaceholder = {
  /** Such as `EmailSubject`. */
  readonly place: string;
  /** Such as `[[name|friend]]`. */
  readonly placeholder: string;
  /** Null: only the service knows it. */
  readonly value: string | null;
  readonly source: 'column' | 'fallback' | 'service';
  /** The destination field that carries the value, if the service merges it; null if Volley does. */
  readonly mergedFrom: string | null;
};

/** One row of a plan, with why it is shown. */
export type RenderedRow = {
  /** The number of the contact, from 1. */
  readonly row: number;
  readonly file: string;
  readonly line: number;
  readonly why: readonly string[];
} & (
  | {
      readonly kind: 'message';
      /** The name of its variant; null: the campaign has none. */
      readonly variant: string | null;
      readonly message: RenderedMessage;
    }
  | {
      readonly kind: 'rejected';
      readonly reason: RejectionReason;
      readonly column: string;
      readonly detail: string;
    }
);
