/** See interface.md, section 1. Only the earlier interfaces have `voice` and `tts`. */
export const channels = ['email', 'sms', 'fax', 'voice', 'tts'] as const;
export type Channel = (typeof channels)[number];

/** See interface.md, sections 4.1–4.3. */
export const interfaceNames = ['rest-2.02', 'rest-1.04', 'rest-1.02', 'soap-tts'] as const;
export type InterfaceName = (typeof interfaceNames)[number];

export const formats = ['json', 'xml'] as const;
export type Format = (typeof formats)[number];

/** Spelt as in interface.md, 2.2. */
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

/** One entry of `Destinations`. Absent fields are not sent. */
export type Destination = { readonly Recipient: string } & {
  readonly [Field in Exclude<DestinationField, 'Recipient'>]?: string;
};

/** One entry of `Files` (interface.md, 2.3). `Data` is base64. */
export type AttachedFile = { readonly Name: string; readonly Data: string };

/** A telephone key, and the number to connect when the recipient presses it (interface.md, 2.7). */
export type Keypad = {
  readonly Tone: string;
  readonly RouteNumber: string;
  /** Only in the sandbox: later interfaces play audio instead of connecting (docs/reference/interfaces.md). */
  readonly plays?: true;
};

/**
 * Request-level fields under their names in interface.md, 2.1–2.7, except `MessageID`, `Destinations`, `Files`
 * and `Keypads`. Times are ISO 8601 without a zone, audio is base64.
 */
export type MessageFields = Readonly<Record<string, string>>;

/** A path in the campaign's folder, and the name that the recipient sees. */
export type CampaignFile = { readonly path: string; readonly name: string };

/** All request-level values, rendered for a contact. Recipients with equal envelopes share requests. */
export type Envelope = {
  readonly fields: MessageFields;
  readonly keypads: readonly Keypad[];
  readonly files: readonly CampaignFile[];
  /** Paths of WAV files by audio field (interface.md, 2.7). */
  readonly audio: Readonly<Record<string, string>>;
};

export type SendRequest = {
  readonly channel: Channel;
  /** Absent only in the sandbox: a sender may let the service choose it (interface.md, 2.1). */
  readonly messageId?: string;
  readonly fields: MessageFields;
  readonly destinations: readonly Destination[];
  readonly files: readonly AttachedFile[];
  readonly keypads: readonly Keypad[];
};

/**
 * The destinations of a request as JSON text. Most bodies contain it unchanged; objects would cost more than
 * the rest of the body.
 */
export type Destinations = {
  readonly count: number;
  /** A JSON array of texts, one per line, as written by Postgres' `array_to_json(…, true)`. */
  readonly addresses: string;
  /**
   * A JSON array of objects, one per line: the fields of each address except `Recipient`. Null if no address
   * has any.
   */
  readonly fields: string | null;
};

export type OutgoingRequest = Omit<SendRequest, 'destinations'> & { readonly destinations: Destinations };
