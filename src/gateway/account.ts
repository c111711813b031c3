import type { Caps } from '../domain/caps.ts';
import type { Format, InterfaceName } from '../domain/message.ts';
import type { Rate } from '../domain/rate-card.ts';
import type { AllowedValues } from '../wire/allowed-values.ts';
import type { Credentials } from '../wire/credentials.ts';
import type { TtsReturnForm } from '../wire/tts-return.ts';

/** How to call the service. Times are milliseconds. */
export type Account = {
  readonly name: string;
  readonly interface: InterfaceName;
  readonly format: Format;
  /** Without a trailing slash, except for `soap-tts`, where it is the endpoint itself. */
  readonly baseUrl: string;
  readonly credentials: Credentials;
  readonly timeouts: { readonly connect: number; readonly headers: number; readonly body: number };
  /** Requests in flight at once, over all workers. */
  readonly concurrency: number;
  /** Over all workers; null: no limit. */
  readonly requestsPerSecond: number | null;
  readonly recipientsPerSecond: number | null;
  /** A person who starts a run with more recipients in the dashboard types their number. */
  readonly confirmAboveRecipients: number;
  /** Message field values beyond the observed ones. */
  readonly allow?: AllowedValues;
  /** Folders of attachments, relative to a campaign that names none. */
  readonly attachments?: readonly string[];
  /** `soap-tts`: how the service says that it accepted a message, beside the known forms. */
  readonly ttsReturn?: TtsReturnForm;
  /** Whether the service has the status look-up. */
  readonly statusLookUp: boolean;
  /** Whether a webhook or the look-up brings delivery reports. */
  readonly bringsReports: boolean;
  /** Estimated cost: at any time, at most one rate per channel and destination. */
  readonly rates: readonly Rate[];
  /** What it may send over all campaigns; absent: no caps. */
  readonly caps?: Caps;
  /** Of the dates in `rates`, and of the days of `caps`; an IANA name. */
  readonly ratesTimeZone: string;
  /** The account whose suppressions apply; this one if absent. */
  readonly suppressionsOf?: string;
};
