import type { Channel, Format, InterfaceName, OutgoingRequest, SendRequest } from '../domain/message.ts';

/**
 * An interface of the service, in one format, is a module that satisfies `WireInterface`; `interfaces.ts` chooses it.
 * The service's side of all of them is `decode-send-request.ts`. Everything here is pure: no clock, no randomness, no I/O.
 */

/** What an interface needs to present itself (interface.md, section 5); the gateway's credentials are assignable. */
export type WireCredentials =
  | { readonly kind: 'authToken'; readonly authToken: string }
  | { readonly kind: 'apiKey'; readonly sender: string; readonly apiKey: string }
  | { readonly kind: 'senderToken'; readonly sender: string; readonly token: string };

/** A send request as it leaves. `path` is added to the account's address: empty, or it starts with a slash. */
export type EncodedSendRequest = {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, which HTTP sends as UTF-8. */
  readonly body: string;
};

/** A question about a message as it leaves; as `EncodedSendRequest`. */
export type EncodedLookUp = {
  readonly method: 'GET';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** A request as it was received. Header names are lower case; `path` has no query, `query` no question mark. */
export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
};

/** The language of an answer: the interface, and the format that was asked for (XML in the case of SOAP). */
export type AnswerStyle = {
  readonly interface: InterfaceName;
  readonly format: Format;
  /** Absent where the request was not understood that far. */
  readonly channel?: Channel;
};

/** What the service's side makes of a request. */
export type DecodedSendRequest =
  /** Not a send request: wrong method or path. */
  | { readonly kind: 'other' }
  | ({
      readonly kind: 'request';
      readonly request: SendRequest;
      /** What interface.md forbids of its values, in the service's words (`forbidden-values.ts`). */
      readonly forbidden: readonly string[];
    } & RequestContext)
  /** Sent to the right place, but the body holds no message. */
  | ({ readonly kind: 'unreadable' } & RequestContext);

/** Credentials are absent where there were none; a missing part of them is empty text. */
export type RequestContext = {
  readonly interface: InterfaceName;
  /** As delivery reports write it, such as `v2.02`. */
  readonly version: string;
  readonly format: Format;
  readonly answer: AnswerStyle;
  readonly credentials?: WireCredentials;
};

/** The service's answer to a send request, before it is written (interface.md, 2.9 and 7). */
export type OutgoingAnswer =
  | { readonly kind: 'accepted'; readonly messageId: string; readonly jobNumber: string }
  | { readonly kind: 'refused'; readonly words: readonly string[]; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | { readonly kind: 'fault'; readonly words: readonly string[]; readonly messageId?: string };

export type EncodedAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, which HTTP sends as UTF-8. */
  readonly body: string;
};

/** The service's answer, as far as its body could be understood. The HTTP status is judged elsewhere. */
export type SendAnswer =
  | { readonly kind: 'success'; readonly messageId?: string }
  /** A success in a form that has no room for a MessageID (interface.md, 4.2 and 4.3); `jobNumber` is the service's own. */
  | { readonly kind: 'unnamed_success'; readonly jobNumber?: string }
  | { readonly kind: 'failure'; readonly words: readonly string[]; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[]; readonly messageId?: string }
  /** SOAP over HTTP answers 500 for every fault; only the fault itself says whose it is. */
  | {
      readonly kind: 'fault';
      readonly origin: 'sender' | 'credential' | 'service';
      readonly words: readonly string[];
    }
  /** Says the same thing twice, which proves nothing of either. */
  | { readonly kind: 'contradictory'; readonly why: string }
  | { readonly kind: 'unreadable'; readonly why: string; readonly messageId?: string };

export type DecodeSendAnswer = (body: Uint8Array) => SendAnswer;

/** What the service says of a MessageID, as far as its body could be understood. */
export type StatusLookUpAnswer =
  /** `state` is the service's word for the message, `jobNumber` its own number of it. */
  | {
      readonly kind: 'found';
      readonly messageId: string;
      readonly state?: string;
      readonly jobNumber?: string;
    }
  /** Never heard of, forgotten, or not processed yet. */
  | { readonly kind: 'not_found'; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | { readonly kind: 'unreadable'; readonly why: string };

export type StatusLookUp = {
  /**
   * @param page of its recipients, from 1; undefined where only the message is asked for
   * @throws Error for credentials of another interface
   */
  readonly encode: (messageId: string, credentials: WireCredentials, page?: number) => EncodedLookUp;
  readonly decode: (body: Uint8Array) => StatusLookUpAnswer;
  /** Of an answer that is `found`. Never throws. */
  readonly decodeRecipients: (body: Uint8Array) => StatusLookUpPage;
};

/** A page of what the service says of a message's recipients. */
export type StatusLookUpPage = {
  /** The members of each by name, as text: those of a delivery report (observed.md). */
  readonly recipients: readonly Readonly<Record<string, string>>[];
  /** How many pages there are; 1 where the answer does not say. */
  readonly pages: number;
};

/** One interface in one format, as its caller sees it: message to bytes, and the answer's bytes to what they say. */
export type WireInterface = {
  readonly name: InterfaceName;
  readonly format: Format;
  readonly channels: readonly Channel[];
  /**
   * The same request always gives the same bytes, in whatever order its fields stand. The fields of a destination may
   * keep the order they have.
   *
   * @throws Error for what campaign and account checks keep out: a channel, field, value or credential that the
   * interface does not have, and text that its format cannot carry.
   */
  readonly encodeSendRequest: (request: OutgoingRequest, credentials: WireCredentials) => EncodedSendRequest;
  readonly decodeSendAnswer: DecodeSendAnswer;
  readonly statusLookUp?: StatusLookUp;
};
