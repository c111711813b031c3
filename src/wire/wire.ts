import type { Channel, Format, InterfaceName, SendRequest } from '../domain.ts';

/**
 * An interface of the service, in one format, is a module that satisfies `WireInterface`; `interfaces.ts` chooses it.
 * Everything here is pure: no clock, no randomness, no I/O.
 */

/** What an interface needs to present itself (interface.md, section 5); the gateway's credentials are assignable. */
export type WireCredentials =
  | { readonly kind: 'authToken'; readonly authToken: string }
  | { readonly kind: 'apiKey'; readonly sender: string; readonly apiKey: string }
  | { readonly kind: 'senderToken'; readonly sender: string; readonly token: string };

/** A send request as it leaves. `path` is relative to the account's address and starts with a slash. */
export type EncodedSendRequest = {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** A request as it was received. Header names are lower case; `path` has no query. */
export type ReceivedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
};

/** What the receiving side makes of a request. Credentials are absent where none could be read. */
export type DecodedSendRequest =
  /** Not a send request of this interface: wrong method or path. */
  | { readonly kind: 'other' }
  | { readonly kind: 'request'; readonly request: SendRequest; readonly credentials?: WireCredentials }
  /** Its channel is known, but the body holds no message. */
  | { readonly kind: 'unreadable'; readonly channel: Channel; readonly credentials?: WireCredentials };

/** The service's answer to a send request, before it is written (interface.md, 2.9 and 7). */
export type SendAnswerToWrite =
  | { readonly kind: 'accepted'; readonly messageId: string }
  | { readonly kind: 'refused'; readonly words: readonly string[]; readonly messageId?: string }
  | { readonly kind: 'unauthorized'; readonly words: readonly string[] }
  | { readonly kind: 'fault'; readonly words: readonly string[] };

export type EncodedSendAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

/** The service's answer, as far as its body could be understood. The HTTP status is judged elsewhere. */
export type SendAnswer =
  | { readonly kind: 'success'; readonly messageId?: string }
  | { readonly kind: 'failure'; readonly words: readonly string[]; readonly messageId?: string }
  | { readonly kind: 'unreadable'; readonly why: string };

export type DecodeSendAnswer = (
  status: number,
  contentType: string | undefined,
  body: Uint8Array,
) => SendAnswer;

/** One interface in one format: message ⇄ bytes, both directions. */
export type WireInterface = {
  readonly name: InterfaceName;
  readonly format: Format;
  readonly channels: readonly Channel[];
  /**
   * The same request always gives the same bytes.
   *
   * @throws Error for what campaign and account checks keep out: a channel, field, value or credential that the
   * interface does not have.
   */
  readonly encodeSendRequest: (request: SendRequest, credentials: WireCredentials) => EncodedSendRequest;
  /** Never throws. */
  readonly decodeSendRequest: (received: ReceivedRequest) => DecodedSendRequest;
  /** @param channel undefined where the request was not understood that far */
  readonly encodeSendAnswer: (answer: SendAnswerToWrite, channel: Channel | undefined) => EncodedSendAnswer;
  /** Never throws. */
  readonly decodeSendAnswer: DecodeSendAnswer;
};
