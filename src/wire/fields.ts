import { type Channel, channels, type InterfaceName } from '../domain/message.ts';
import { maxSubAccountLength } from '../domain/suppressions.ts';

/**
 * The fields of interface.md, sections 2.1–2.10, once, as data: campaigns are checked against it, the codecs of every
 * interface and format are driven by it, and the sandbox reads required fields from it.
 */

/**
 * How a value is written. `time`: ISO 8601 without a zone; `zone`: a region name or a Windows zone; `url`: an address;
 * `audio`: base64 WAV. Values of the domain are always text; `wire-values.ts` turns them into what an interface takes.
 */
export type FieldType = 'text' | 'boolean' | 'integer' | 'time' | 'zone' | 'url' | 'audio';

/** `interface`: interface.md states it. `observed`: seen in one deployment (observed.md); a default, not a certainty. */
export type Source = 'interface' | 'observed';

export type FieldDefinition = {
  /** The name in campaigns, the ledger and journals: that of interface.md, 2.1–2.7. */
  readonly name: string;
  /** The JSON key, and the XML element's name. */
  readonly wireName: string;
  readonly type: FieldType;
  readonly channels: readonly Channel[];
  /** What the service checks: `one of` means at least one field so marked (or, for a fax, a file) must be there. */
  readonly required: 'yes' | 'one of' | 'no';
  /** May have several lines. Every other field is one line: a line break in a subject would forge a mail header. */
  readonly multiline?: true;
  readonly limit?: number;
  readonly range?: readonly [number, number];
  /** The values that are known to be taken, any case. */
  readonly values?: readonly string[];
  /** A whole number that the samples write as text. */
  readonly asText?: true;
  /** Written as CDATA in XML. */
  readonly cdata?: true;
  /** Where `limit`, `range` or `values` comes from. */
  readonly source: Source;
};

type Traits = Partial<Omit<FieldDefinition, 'name' | 'channels'>>;

const email: readonly Channel[] = ['email'];
const sms: readonly Channel[] = ['sms'];
const fax: readonly Channel[] = ['fax'];
const voice: readonly Channel[] = ['voice'];
const tts: readonly Channel[] = ['tts'];
const callChannels: readonly Channel[] = [...voice, ...tts];
const writtenChannels: readonly Channel[] = [...email, ...sms, ...fax];

function field(name: string, of: readonly Channel[], traits: Traits = {}): FieldDefinition {
  return {
    name,
    wireName: name,
    channels: of,
    type: 'text',
    required: 'no',
    source: 'interface',
    ...traits,
  };
}

const reference: Traits = { limit: 80 };
const account: Traits = { limit: maxSubAccountLength, source: 'observed' };
const wholeNumber: Traits = { type: 'integer', source: 'observed' };
const text: Traits = { multiline: true };
const sendTime: Traits = { type: 'time' };

const emailFields: readonly FieldDefinition[] = [
  field('EmailSubject', email, { limit: 1024, source: 'observed' }),
  field('SMTPFrom', email),
  field('From', email, { limit: 30, source: 'observed' }),
  field('FromEmail', email, { limit: 100, source: 'observed' }),
  field('CCEmail', email),
  field('ReplyTo', email),
  field('MessagePlain', email, { ...text, required: 'one of', limit: 10_000, source: 'observed' }),
  field('MessageHTML', email, {
    ...text,
    required: 'one of',
    cdata: true,
    limit: 10_000,
    source: 'observed',
  }),
  field('TemplateLocation', email),
  field('Template', email, { required: 'one of' }),
];

const smsFields: readonly FieldDefinition[] = [
  field('Message', sms, { ...text, required: 'yes', limit: 1000, source: 'observed' }),
  field('FromNumber', sms),
  field('SMSEmailReply', sms),
];

const characterConversion: Traits = { type: 'boolean' };

const faxFields: readonly FieldDefinition[] = [
  field('Resolution', fax, { values: ['Low', 'High'], source: 'observed' }),
  field('CSID', fax, { limit: 30, source: 'observed' }),
  field('RetryAttempts', fax, { ...wholeNumber, range: [0, 5] }),
  field('RetryPeriod', fax, { ...wholeNumber, range: [0, 60] }),
  field('Message', fax, { ...text, required: 'one of' }),
];

const callContent: readonly (readonly [string, Traits])[] = [
  ['MessageToPeople', { required: 'yes' }],
  ['MessageToAnswerphones', {}],
  ['CallRouteMessageToPeople', {}],
  ['CallRouteMessageToOperators', {}],
  ['CallRouteMessageOnWrongKey', {}],
];

const operators: Traits = { type: 'integer', asText: true, range: [1, 99_999], source: 'observed' };

const callFields: readonly FieldDefinition[] = [
  ...callContent.map(([name, traits]) => field(name, voice, { ...traits, type: 'audio' })),
  ...callContent.map(([name, traits]) => field(name, tts, { ...traits, ...text })),
  field('NumberOfOperators', callChannels, operators),
  field('RetryAttempts', callChannels, wholeNumber),
  field('RetryPeriod', callChannels, wholeNumber),
  field('CallerID', callChannels),
  field('Voice', tts),
  field('Options', callChannels),
];

/** The order is the order on the wire, so that the same request is always the same bytes. */
const rest202Fields: readonly FieldDefinition[] = [
  field('Reference', writtenChannels, reference),
  field('WebhookCallbackURL', writtenChannels, { type: 'url' }),
  field('WebhookCallbackFormat', writtenChannels, { values: ['JSON', 'XML'] }),
  field('SendTime', writtenChannels, sendTime),
  field('TimeZone', writtenChannels, { type: 'zone' }),
  field('SubAccount', writtenChannels, account),
  field('Department', writtenChannels, account),
  field('ChargeCode', writtenChannels),
  // Not of interface.md; the one client that was seen calls it Mode. No value is known to be taken.
  field('SendMode', writtenChannels, { wireName: 'Mode', values: [], source: 'observed' }),
  ...emailFields,
  ...smsFields,
  field('CharacterConversion', sms, characterConversion),
  ...faxFields,
];

/** Of calls in versions 2.03 and 2.04 (rest-3.00.md, 11.3), which only the service's side reads: 2.02 shows none. */
const laterCallFields: readonly FieldDefinition[] = [
  ...rest202Fields
    .filter(({ channels: of }) => of === writtenChannels)
    .map((common) => ({ ...common, channels: callChannels })),
  ...callFields,
];

/** Section 2.8. `SendMode` (section 1) has no place in a sample; its values are observed. */
const rest1Fields: readonly FieldDefinition[] = [
  field('Reference', channels, reference),
  field('SendMode', channels, { values: ['Test', 'Normal'], source: 'observed' }),
  field('SendTime', channels, sendTime),
  field('TimeZone', channels, { type: 'zone' }),
  field('SubAccount', channels, account),
  field('Department', channels, account),
  field('ChargeCode', channels),
  ...emailFields,
  ...smsFields,
  field('CharacterConversion', sms, { ...characterConversion, wireName: 'ForceGSMChars' }),
  ...faxFields,
  ...callFields,
];

/** Section 2.10. That `billing_account` is the ChargeCode is an assumption: both say whom the invoice is charged to. */
const soapTtsFields: readonly FieldDefinition[] = [
  field('CallerID', tts, { wireName: 'caller_id' }),
  field('Reference', tts, { ...reference, wireName: 'reference' }),
  field('ChargeCode', tts, { wireName: 'billing_account' }),
  field('NumberOfOperators', tts, { ...operators, wireName: 'number_of_operators' }),
  field('RetryAttempts', tts, { ...wholeNumber, wireName: 'retry_attempts' }),
  field('RetryPeriod', tts, { ...wholeNumber, wireName: 'retry_period' }),
  field('SendTime', tts, { ...sendTime, wireName: 'sendtime' }),
  field('EndTime', tts, { ...sendTime, wireName: 'endtime' }),
  field('Voice', tts, { wireName: 'voice' }),
  field('MessageToPeople', tts, { ...text, required: 'yes', wireName: 'msg_to_people' }),
  field('MessageToAnswerphones', tts, { ...text, wireName: 'msg_to_answer_phones' }),
  field('CallRouteMessageToOperators', tts, { ...text, wireName: 'call_route_msg_to_operators' }),
  field('CallRouteMessageToPeople', tts, { ...text, wireName: 'call_route_msg_to_people' }),
  field('CallRouteMessageOnWrongKey', tts, { ...text, wireName: 'call_route_msg_on_wrong_key' }),
  field('Options', tts, { wireName: 'options' }),
];

const fieldsByInterface: Readonly<Record<InterfaceName, readonly FieldDefinition[]>> = {
  'rest-2.02': rest202Fields,
  'rest-1.04': rest1Fields,
  'rest-1.02': rest1Fields,
  'soap-tts': soapTtsFields,
};

const byChannel = new Map<string, readonly FieldDefinition[]>();
for (const [interfaceName, fields] of Object.entries(fieldsByInterface)) {
  for (const channel of channels) {
    byChannel.set(
      `${interfaceName} ${channel}`,
      fields.filter((definition) => definition.channels.includes(channel)),
    );
  }
}

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
  return byChannel.get(`${interfaceName} ${channel}`) ?? [];
}

/** Fields that the service's side reads: those of `messageFields`, and those of calls in the later versions. */
export function serviceSideFields(
  interfaceName: InterfaceName,
  channel: Channel,
): readonly FieldDefinition[] {
  if (interfaceName === 'rest-2.02' && callChannels.includes(channel)) {
    return laterCallFields.filter((definition) => definition.channels.includes(channel));
  }
  return messageFields(interfaceName, channel);
}

export function channelsOf(interfaceName: InterfaceName): readonly Channel[] {
  return channels.filter((channel) => messageFields(interfaceName, channel).length > 0);
}

/** Whether a message may have `Files` (interface.md, 2.3). */
export function supportsFiles(interfaceName: InterfaceName, channel: Channel): boolean {
  return writtenChannels.includes(channel) && messageFields(interfaceName, channel).length > 0;
}

/** Whether a message may have `Keypads` (interface.md, 2.7 and 2.10). */
export function supportsKeypads(interfaceName: InterfaceName, channel: Channel): boolean {
  return callChannels.includes(channel) && messageFields(interfaceName, channel).length > 0;
}

/** The buttons a keypad may have (interface.md, 2.7 and section 8). */
export const keypadTones: readonly string[] = ['1', '2', '3', '4', '5', '6', '7', '8', '9'];
