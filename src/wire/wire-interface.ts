import type { Channel, Format, InterfaceName, OutgoingRequest, SendRequest } from '../domain/message.ts';
import type { TtsReturnForm } from './tts-return.ts';

/** What identifies a caller (interface.md, section 5). */
export type Credentials =
  | { readonly kind: 'authToken'; readonly authToken: string }
  | { readonly kind: 'apiKey'; readonly sender: string; readonly apiKey: string }
  | { readonly kind: 'senderToken'; readonly sender: string; readonly token: string };

/** The secret part: redacted from every text that is stored or shown. */
export function secretOf(credentials: Credentials): string {
  switch (credentials.kind) {
    case 'authToken':
      return credentials.authToken;
    case 'apiKey':
      return credentials.apiKey;
    case 'senderToken':
      return credentials.token;
  }
}

/**
 * Each interface and format of the service is a `WireInterface`. Everything here is pure: no clock, no
 * randomness, no I/O.
 */

/** `path` is appended to the account's address: empty, or with a leading slash. */
export type EncodedSendRequest = {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8. */
  readonly body: string;
};

export type EncodedLookUp = {
  readonly method: 'GET';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Header names are lower case; `path` has no query, `query` no question mark. */
export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
};

/** How an answer is written; always XML for SOAP. */
export type AnswerStyle = {
  readonly interface: InterfaceName;
  readonly format: Format;
  /** Absent when the request was not understood that far. */
  readonly channel?: Channel;
};

export type DecodedSendRequest =
  /** Wrong method or path. */
  | { readonly kind: 'other' }
  | ({
      readonly kind: 'request';
      readonly request: SendRequest;
      /** The values that interface.md forbids, in the service's words (`forbidden-values.ts`). */
      readonly forbidden: readonly string[];
    } & RequestContext)
  /** The body contains no message. */
  | ({ readonly kind: 'unreadable' } & RequestContext);

/** `credentials` is absent if there were none; a missing part is empty text. */
export type RequestContext = {
  readonly interface: InterfaceName;
  /** As in delivery reports, such as `v2.02`. */
  readonly version: string;
  readonly format: Format;
  readonly answer: AnswerStyle;
  readonly credentials?: Credentials;
};

/** An answer before it is encoded (interface.md, 2.9 and 7). */
export type OutgoingAnswer =
  | { readonly kind: 'accepted'; readonly messageId: string; readonly jobNumber: string }
  | { readonly kind: 'refused'; readonly words: readonly string[]; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | { readonly kind: 'fault'; readonly words: readonly string[]; readonly messageId?: string };

export type EncodedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** UTF-8. */
  readonly body: string;
};

/** The answer's body; `gateway/verdict.ts` classifies it with the HTTP status. */
export type SendAnswer =
  | { readonly kind: 'success'; readonly messageId?: string }
  /** In a form without a MessageID (interface.md, 4.2 and 4.3). */
  | { readonly kind: 'unnamed_success'; readonly jobNumber?: string }
  | { readonly kind: 'failure'; readonly words: readonly string[]; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[]; readonly messageId?: string }
  /** SOAP over HTTP answers 500 for every fault, so only the fault names its origin. */
  | {
      readonly kind: 'fault';
      readonly origin: 'sender' | 'credential' | 'service';
      readonly words: readonly string[];
    }
  /** The answer repeats a member, which proves neither value. */
  | { readonly kind: 'contradictory'; readonly why: string }
  | { readonly kind: 'unreadable'; readonly why: string; readonly messageId?: string };

/** @param taught of an account of `soap-tts` */
export type DecodeSendAnswer = (body: Uint8Array, taught?: TtsReturnForm) => SendAnswer;

export type StatusLookUpAnswer =
  /** `state` is the service's word. */
  | {
      readonly kind: 'found';
      readonly messageId: string;
      readonly state?: string;
      readonly jobNumber?: string;
    }
  /** Unknown, deleted, or not processed yet. */
  | { readonly kind: 'not_found'; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | { readonly kind: 'unreadable'; readonly why: string };

export type StatusLookUp = {
  /**
   * @param page of the recipients, from 1; undefined to ask only about the message
   * @throws Error for credentials of another interface
   */
  readonly encode: (messageId: string, credentials: Credentials, page?: number) => EncodedLookUp;
  readonly decode: (body: Uint8Array) => StatusLookUpAnswer;
  /** Of a `found` answer. Never throws. */
  readonly decodeRecipients: (body: Uint8Array) => StatusLookUpPage;
};

export type StatusLookUpPage = {
  /** Text members by name, as in a delivery report (docs/reference/interfaces.md). */
  readonly recipients: readonly Readonly<Record<string, string>>[];
  /** The number of pages; 1 if the answer does not say. */
  readonly pages: number;
};

export type WireInterface = {
  readonly name: InterfaceName;
  readonly format: Format;
  readonly channels: readonly Channel[];
  /**
   * A request always has the same bytes, whatever the order of its fields (destination fields excepted).
   *
   * @throws Error for anything that campaign and account checks should have refused
   */
  readonly encodeSendRequest: (request: OutgoingRequest, credentials: Credentials) => EncodedSendRequest;
  readonly decodeSendAnswer: DecodeSendAnswer;
  readonly statusLookUp?: StatusLookUp;
};
