import { type Channel, type DestinationField, destinationFields, type InterfaceName } from '../domain.ts';

/**
 * The fields of interface.md, sections 2.1–2.6, once, as data: campaigns are checked against it, the codecs are driven
 * by it, and the sandbox reads required fields from it.
 */

export type FieldType = 'text' | 'boolean' | 'integer';

/** `interface`: interface.md states it. `observed`: seen in one deployment (observed.md); a default, not a certainty. */
export type Source = 'interface' | 'observed';

/** One request-level field of a message. */
export type FieldDefinition = {
  /** The JSON key, and the XML element's name. */
  readonly name: string;
  /** How the value is written: text as it stands, `true`/`false`, or a whole number. */
  readonly type: FieldType;
  readonly channels: readonly Channel[];
  /** What the service checks: `one of` means at least one field so marked (or, for a fax, a file) must be there. */
  readonly required: 'yes' | 'one of' | 'no';
  /** Most characters of a text. */
  readonly limit?: number;
  /** Smallest and largest whole number. */
  readonly range?: readonly [number, number];
  /** The values that are known to be taken, any case. */
  readonly values?: readonly string[];
  /** Where `limit`, `range` or `values` comes from. */
  readonly source: Source;
};

/** One field of a destination (interface.md, 2.2): the JSON key may contain a space, the XML element's name not. */
export type DestinationFieldDefinition = { readonly name: DestinationField; readonly xmlName: string };

/** The service's merging: into which field, and which destination fields it can put there. */
export type ServiceMerge = {
  readonly field: string;
  readonly destinationFields: readonly DestinationField[];
};

type Traits = Partial<Omit<FieldDefinition, 'name' | 'channels'>>;

const email: readonly Channel[] = ['email'];
const sms: readonly Channel[] = ['sms'];
const fax: readonly Channel[] = ['fax'];
const all: readonly Channel[] = [...email, ...sms, ...fax];

function field(name: string, channels: readonly Channel[], traits: Traits = {}): FieldDefinition {
  return { name, channels, type: 'text', required: 'no', source: 'interface', ...traits };
}

/** Not among `messageFields`: it belongs to the request, never to a campaign. Letters and digits only. */
export const messageIdField: FieldDefinition = field('MessageID', all, { limit: 40 });

/** The order is the order on the wire, so that the same request is always the same bytes. */
const rest202Fields: readonly FieldDefinition[] = [
  field('Reference', all, { limit: 80 }),
  field('WebhookCallbackURL', all),
  field('WebhookCallbackFormat', all, { values: ['JSON', 'XML'] }),
  field('SendTime', all),
  field('TimeZone', all),
  field('SubAccount', all, { limit: 40, source: 'observed' }),
  field('Department', all, { limit: 40, source: 'observed' }),
  field('ChargeCode', all),

  field('EmailSubject', email, { limit: 1024, source: 'observed' }),
  field('SMTPFrom', email),
  field('From', email, { limit: 30, source: 'observed' }),
  field('FromEmail', email, { limit: 100, source: 'observed' }),
  field('CCEmail', email),
  field('ReplyTo', email),
  field('MessagePlain', email, { required: 'one of', limit: 10_000, source: 'observed' }),
  field('MessageHTML', email, { required: 'one of', limit: 10_000, source: 'observed' }),
  field('TemplateLocation', email),
  field('Template', email, { required: 'one of' }),

  field('Message', sms, { required: 'yes', limit: 1000, source: 'observed' }),
  field('FromNumber', sms),
  field('SMSEmailReply', sms),
  field('CharacterConversion', sms, { type: 'boolean' }),

  field('Resolution', fax, { values: ['Low', 'High'], source: 'observed' }),
  field('CSID', fax, { limit: 30, source: 'observed' }),
  field('RetryAttempts', fax, { type: 'integer', range: [0, 5], source: 'observed' }),
  field('RetryPeriod', fax, { type: 'integer', range: [0, 60], source: 'observed' }),
  field('Message', fax, { required: 'one of' }),
];

const fieldsByInterface: Readonly<Partial<Record<InterfaceName, readonly FieldDefinition[]>>> = {
  'rest-2.02': rest202Fields,
};

/** Every name a message field has in any interface and channel. */
export const messageFieldNames: readonly string[] = [
  ...new Set(
    Object.values(fieldsByInterface)
      .flat()
      .map(({ name }) => name),
  ),
];

/** Fields a message of this channel may have, in the order of the wire; none when the interface lacks the channel. */
export function messageFields(interfaceName: InterfaceName, channel: Channel): readonly FieldDefinition[] {
  return (fieldsByInterface[interfaceName] ?? []).filter(({ channels }) => channels.includes(channel));
}

/** Destination fields in the order of the wire. */
export const destinationFieldDefinitions: readonly DestinationFieldDefinition[] = destinationFields.map(
  (name) => ({
    name,
    xmlName: name.replace(' ', ''),
  }),
);

/** What the service merges by itself: destination fields into the text of an SMS (interface.md, 2.2 and 2.5). */
export function mergedByService(interfaceName: InterfaceName, channel: Channel): ServiceMerge | undefined {
  if (interfaceName !== 'rest-2.02' || channel !== 'sms') return undefined;
  return { field: 'Message', destinationFields: destinationFields.filter((name) => name !== 'Recipient') };
}

/** Placeholders that the service fills by itself, SMS only (interface.md, 2.5). `name` is what the brackets hold. */
export function isServicePlaceholder(channel: Channel, name: string): boolean {
  if (channel !== 'sms') return false;
  return /^File[1-9]\d*$/.test(name) || /^reply$/i.test(name) || name === 'STOP' || name.startsWith('Link:');
}
