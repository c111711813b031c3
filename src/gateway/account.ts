import type { Format, InterfaceName } from '../domain/message.ts';
import type { Rate } from '../domain/rates.ts';
import type { AllowedValues } from '../wire/allowed-values.ts';

/** How an interface recognises its caller (interface.md, section 5). */
export type Credentials =
  | { readonly kind: 'authToken'; readonly authToken: string }
  | { readonly kind: 'apiKey'; readonly sender: string; readonly apiKey: string }
  | { readonly kind: 'senderToken'; readonly sender: string; readonly token: string };

/** Where and how the service is spoken to. Times are milliseconds. */
export type Account = {
  readonly name: string;
  readonly interface: InterfaceName;
  readonly format: Format;
  /** Without a trailing slash, but for `soap-tts`, where it is the endpoint itself. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly timeouts: { readonly connect: number; readonly headers: number; readonly body: number };
  /** Most requests in flight at once, over all workers. */
  readonly concurrency: number;
  /** Most requests a second, over all workers; null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly recipientsPerSecond: number | null;
  /** Values of message fields that the service takes beyond those that were observed. */
  readonly allow?: AllowedValues;
  /** Whether the service can be asked what became of a MessageID. */
  readonly statusLookUp: boolean;
  /** What it is thought to cost: at any time, one at most for each channel and destination. */
  readonly rates: readonly Rate[];
  /** Whose dates those of the rates are; a name of the IANA database. */
  readonly ratesTimeZone: string;
  /** The account whose suppressions it goes by; itself where it is not given. */
  readonly suppressionsOf?: string;
};
