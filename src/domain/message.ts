/** The channels of interface.md, section 1. `voice` and `tts` exist only in the earlier interfaces. */
export const channels = ['email', 'sms', 'fax', 'voice', 'tts'] as const;
export type Channel = (typeof channels)[number];

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
export type Keypad = {
  readonly Tone: string;
  readonly RouteNumber: string;
  /** Only on the sandbox's side: later versions play something in place of connecting the call (rest-3.00.md, 2.6). */
  readonly plays?: true;
};

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

export type SendRequest = {
  readonly channel: Channel;
  /** Absent only on the sandbox's side, where a sender may leave it to the service (interface.md, 2.1). */
  readonly messageId?: string;
  readonly fields: MessageFields;
  readonly destinations: readonly Destination[];
  readonly files: readonly AttachedFile[];
  readonly keypads: readonly Keypad[];
};

/**
 * The destinations of a request as the ledger keeps them, as text: most are written into a body as they stand, and an
 * object for each of them would cost more than all the rest of the body.
 */
export type Destinations = {
  readonly count: number;
  /** A JSON array of texts, each on a line, as `array_to_json(…, true)` of Postgres writes it. */
  readonly addresses: string;
  /** A JSON array of an object for each address, with its fields other than `Recipient`, each on a line; null: none has any. */
  readonly fields: string | null;
};

export type OutgoingRequest = Omit<SendRequest, 'destinations'> & { readonly destinations: Destinations };
