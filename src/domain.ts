/**
 * The vocabulary of Volley: the words every room, table, command and document uses.
 * This file imports nothing; every file may import it.
 */

/** The channels of interface.md, section 1. `voice` and `tts` exist only in the earlier interfaces. */
export const channels = ['email', 'sms', 'fax', 'voice', 'tts'] as const;
export type Channel = (typeof channels)[number];

/** What the service charges for, and the unit it does in, by channel. */
export const unitOfChannel = {
  email: 'email',
  sms: 'part',
  fax: 'page',
  voice: 'second',
  tts: 'second',
} as const satisfies Record<Channel, string>;
export type Unit = (typeof unitOfChannel)[Channel];

/** What one unit costs through an account. */
export type Rate = {
  readonly channel: Channel;
  readonly unit: Unit;
  /** Where to: a two-letter country (`NZ`) or the beginning of a number (`+6421`); undefined: everywhere. */
  readonly destination?: string | undefined;
  /** An exact decimal, without tax. */
  readonly price: string;
  /** Three capital letters, the same in all rates of an account. */
  readonly currency: string;
  /** The tax on the price, as an exact share of it: `0.15`. */
  readonly tax?: string | undefined;
  /** Local dates (`2026-11-01`) in the zone of the account's rates: the first day, and the day after the last. */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
};

/** A price for a time. `from` is included, `until` is not; both are instants of ISO 8601, and null has no limit. */
export type RatePeriod = {
  readonly price: string;
  readonly tax: string | null;
  readonly from: string | null;
  readonly until: string | null;
};

/** What a channel costs to one destination, at different times; no two periods overlap. Empty: nothing says what. */
export type Tariff = readonly RatePeriod[];

/** The rates that a run is planned with. Its recipients know their tariff by its place, from 0. */
export type RunRates = { readonly currency: string; readonly tariffs: readonly Tariff[] };

/** How fast an account may be used, over all workers; null: as fast as can be. */
export type RateLimits = {
  readonly requestsPerSecond: number | null;
  readonly recipientsPerSecond: number | null;
};

/** The interfaces an account can be spoken to in (interface.md, sections 4.1–4.3). */
export const interfaceNames = ['rest-2.02', 'rest-1.04', 'rest-1.02', 'soap-tts'] as const;
export type InterfaceName = (typeof interfaceNames)[number];

export const formats = ['json', 'xml'] as const;
export type Format = (typeof formats)[number];

/** Destination fields in the interface's own spelling (interface.md, 2.2). */
export const destinationFields = [
  'Recipient',
  'Attention',
  'First Name',
  'Last Name',
  'Company',
  'Custom1',
  'Custom2',
] as const;
export type DestinationField = (typeof destinationFields)[number];

/** One entry of `Destinations`: the address, and the fields the service tracks or merges. Absent means not sent. */
export type Destination = { readonly Recipient: string } & {
  readonly [Field in Exclude<DestinationField, 'Recipient'>]?: string;
};

/** One entry of `Files` (interface.md, 2.3). `Data` is base64. */
export type AttachedFile = { readonly Name: string; readonly Data: string };

/** A button of the telephone and the number a call is connected to when it is pressed (interface.md, 2.7). */
export type Keypad = { readonly Tone: string; readonly RouteNumber: string };

/**
 * Request-level fields of a message under the names of interface.md, 2.1–2.7 (`Message`, `EmailSubject`, `SubAccount`,
 * …), whatever the interface calls them, without `MessageID`, `Destinations`, `Files` and `Keypads`. Every value is
 * text; times are ISO 8601 without a zone, audio is base64.
 */
export type MessageFields = Readonly<Record<string, string>>;

/** A file in the campaign's folder, and the name the recipient sees. */
export type CampaignFile = { readonly path: string; readonly name: string };

/** Every request-level value of a message, rendered for a contact; recipients with equal envelopes share requests. */
export type Envelope = {
  readonly fields: MessageFields;
  readonly keypads: readonly Keypad[];
  /** Files to send along, in order. */
  readonly files: readonly CampaignFile[];
  /** Audio fields of a voice message (interface.md, 2.7), each with the path of its WAV file. */
  readonly audio: Readonly<Record<string, string>>;
};

/** One send request: what `wire` turns into bytes and back. */
export type SendRequest = {
  readonly channel: Channel;
  /** Absent only on the sandbox's side, where a sender may leave it to the service (interface.md, 2.1). */
  readonly messageId?: string;
  readonly fields: MessageFields;
  readonly destinations: readonly Destination[];
  readonly files: readonly AttachedFile[];
  readonly keypads: readonly Keypad[];
};

/** How urgent a run is, from the least. A more urgent one goes before the others of its account. */
export const priorities = ['bulk', 'normal', 'urgent'] as const;
export type Priority = (typeof priorities)[number];

/** Request: `planned → sending → accepted | rejected | failed | in_doubt`, `cancelled`, `abandoned`. */
export const requestStates = [
  'planned',
  'sending',
  'accepted',
  'rejected',
  'failed',
  'in_doubt',
  'cancelled',
  'abandoned',
] as const;
export type RequestState = (typeof requestStates)[number];

/** What an operator can say of a request in doubt: it was accepted, send it again, give it up. */
export const resolutions = ['accepted', 'resend', 'abandon'] as const;
export type Resolution = (typeof resolutions)[number];

/** Recipient: follows from its request's state until a delivery report says `delivered` or `undelivered`. */
export const recipientStates = [
  'pending',
  'accepted',
  'delivered',
  'undelivered',
  'rejected',
  'failed',
  'unknown',
  'cancelled',
] as const;
export type RecipientState = (typeof recipientStates)[number];

/** Run: `importing → planned → running → completed`, `paused`, `cancelled`, `failed`. */
export const runStates = [
  'importing',
  'planned',
  'running',
  'completed',
  'paused',
  'cancelled',
  'failed',
] as const;
export type RunState = (typeof runStates)[number];

/** What became of a time at which a campaign was to run by itself. */
export const tickStates = ['due', 'started', 'skipped', 'missed', 'failed'] as const;
export type TickState = (typeof tickStates)[number];

/**
 * What `notify` tells: a run is over with all accepted (`completed`), or with rejected, failed or unknown requests
 * (`failures`); it is `paused`; a time of a schedule has made no run (`missed`).
 */
export const notifiedEvents = ['completed', 'failures', 'paused', 'missed'] as const;
export type NotifiedEvent = (typeof notifiedEvents)[number];

/** A time of a schedule that made no run, or several of them that were noted together. */
export type MissedTimes = {
  readonly schedule: string;
  readonly campaign: string;
  readonly times: number;
  /** ISO 8601, the first and the last of them. */
  readonly from: string;
  readonly until: string;
  readonly state: 'missed' | 'failed';
};

/** What is told, as webhooks and commands get it; the counts are those of when it was first told. */
export type Told =
  | {
      readonly type: `run.${Exclude<NotifiedEvent, 'missed'>}`;
      /** ISO 8601: when it happened. */
      readonly timestamp: string;
      readonly data: RunSummary & { readonly reason: string | null };
    }
  | {
      readonly type: 'schedule.missed';
      readonly timestamp: string;
      readonly data: MissedTimes & { readonly reason: string | null };
    };

/** Why a contact was left out of a run. */
export const rejectionReasons = ['invalid', 'duplicate', 'suppressed'] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

/** Why a row was left out: the column that is to blame, and in words. */
export type Rejection = {
  readonly column: string;
  readonly reason: RejectionReason;
  readonly detail: string;
};

/** A row left out of a run: where it stands in the contact files, and why. */
export type RejectedContact = { readonly file: string; readonly line: number } & Rejection;

/**
 * A row of a contact file on its way into a run: mapped and normalised, or left out. Suppressed addresses and duplicates
 * are found later. `file` counts the campaign's contact files, from 0.
 */
export type Contact = { readonly file: number; readonly line: number } & (
  | {
      readonly kind: 'contact';
      readonly address: string;
      /** The address as the file has it. */
      readonly originalAddress: string;
      readonly envelope: Envelope;
      /** Destination fields other than `Recipient`. */
      readonly destination: MessageFields;
      /** Time zones, with commas between; only in a campaign with a window. */
      readonly zones?: string;
    }
  | ({ readonly kind: 'rejected' } & Rejection)
);

/** What a delivery report says of a recipient, once its status words are understood. */
export const deliveryOutcomes = ['delivered', 'undelivered'] as const;
export type DeliveryOutcome = (typeof deliveryOutcomes)[number];

/** How a report came: the service called us, or was asked by us. */
export const reportMethods = ['POST', 'GET', 'LOOK-UP'] as const;
export type ReportMethod = (typeof reportMethods)[number];

/**
 * What became of a report: it decided, said what was known, said something else than the first, matched nobody, is a reply,
 * or cannot be read.
 */
export const reportStates = [
  'applied',
  'unchanged',
  'conflicting',
  'unmatched',
  'inbound',
  'unreadable',
] as const;
export type ReportState = (typeof reportStates)[number];

/** What is stored of a single recipient: a delivery report's outcome, or that it was left out of its request. */
export const recipientOutcomes = [...deliveryOutcomes, 'cancelled'] as const;

/** Who says that an address must not be sent to: a person, a list, the recipient's own reply, a delivery report. */
export const suppressionSources = ['operator', 'import', 'reply', 'report'] as const;
export type SuppressionSource = (typeof suppressionSources)[number];

/** An address that must not be sent to in a channel. */
export type Suppression = {
  readonly channel: Channel;
  /** Normalised, as recipients' are: E.164, or an e-mail address whose domain is in small letters. */
  readonly address: string;
  /** Empty: for all. */
  readonly subAccount: string;
  /** Words for people; may be empty. */
  readonly reason: string;
  readonly source: SuppressionSource;
  readonly createdAt: Date;
};

/**
 * A text with which a spreadsheet program would begin to compute: what it begins with, or the full-width form of that, or
 * a character that it passes over first, a byte order mark among them; or such a text that was made inert already, by
 * apostrophes before it.
 */
export const activeText = /^'*[=+\-@\t\r\n\0\uFEFF＝＋－＠]/;

/** Volley's own columns in a result file, after those of the contact files. They tell a result file that is read again. */
export const resultFileColumns = [
  'Volley File',
  'Volley Line',
  'Volley State',
  'Volley Column',
  'Volley Reason',
  'Volley Address',
  'Volley MessageID',
  'Volley Units',
  'Volley Price',
  'Volley Row',
] as const;

/** The columns of a list of suppressions as Volley writes it. They tell such a list that is read again. */
export const suppressionListColumns = [
  'Channel',
  'Address',
  'SubAccount',
  'Source',
  'Since (UTC)',
  'Reason',
] as const;

export type RequestCounts = { readonly total: number } & Readonly<Record<RequestState, number>>;
export type RecipientCounts = { readonly total: number } & Readonly<Record<RecipientState, number>>;
export type ContactCounts = { readonly read: number } & Readonly<Record<RejectionReason, number>>;

/** Requests of a run that wait until their sending window opens. */
export type WindowWait = {
  /** Names of the IANA database: the window is open while it is in each of them. */
  readonly timeZones: readonly string[];
  /** ISO 8601. */
  readonly until: string;
  readonly requests: number;
  readonly recipients: number;
};

/** What `run`, `resume` and `status` print with `--json`; the counts always add up to their totals. */
export type RunSummary = {
  readonly run: string;
  readonly campaign: string;
  readonly state: RunState;
  readonly contacts: ContactCounts;
  readonly requests: RequestCounts;
  readonly recipients: RecipientCounts;
  /** What opens first comes first; only where something waits. */
  readonly waits?: readonly WindowWait[];
};

/**
 * A mistake in something a person wrote or set: a campaign, an account, a contact file, a flag, an environment
 * variable. It is shown without a stack, ends the command with exit code 2, and nothing is sent after it.
 */
export type Problem = {
  /** `file:line:column`, `file:line`, a field, or a setting's name. */
  readonly where: string;
  /** What is wrong, what was expected, and what to do: one or two sentences. */
  readonly what: string;
};

/** Carries every problem found, so that all are shown at once. */
export class InputError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(({ where, what }) => `${where}: ${what}`).join('\n'), options);
    this.name = 'InputError';
    this.problems = problems;
  }
}

/** What the audit trail tells of. What Volley does by itself, such as pausing a run that is refused, is in the run's states. */
export const auditActions = [
  'run planned',
  'run started',
  'run resumed',
  'run paused',
  'run cancelled',
  'run approved',
  'run purged',
  'purged',
  'requests resolved',
  'reports replayed',
  'billing closed',
  'limits set',
  'suppressions added',
  'suppressions removed',
  'token created',
  'token revoked',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** In which way something was done. */
export const auditWays = ['cli', 'api', 'schedule'] as const;
export type AuditWay = (typeof auditWays)[number];

export const auditOutcomes = ['done', 'refused'] as const;
export type AuditOutcome = (typeof auditOutcomes)[number];

/** Who is behind what is done. */
export type Actor = {
  /** `user@host`, the owner of a token, or a schedule. */
  readonly who: string;
  readonly how: AuditWay;
  /** The token's name, where there is one. */
  readonly token: string | null;
};

/** What a token may be used for; each allows what those before it do. */
export const tokenScopes = ['read', 'run', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];
