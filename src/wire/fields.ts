import { type Channel, channels, type InterfaceName } from '../domain/message.ts';
import { maxSubAccountLength } from '../domain/suppressions.ts';

/**
 * The fields of interface.md, 2.1–2.10, as data for campaign checks, codecs and the sandbox's required-field
 * check.
 */

/**
 * `time`: ISO 8601 without a zone; `zone`: a region name or Windows zone; `audio`: base64 WAV. Domain values
 * are text; `wire-values.ts` converts them.
 */
export type FieldType = 'text' | 'boolean' | 'integer' | 'time' | 'zone' | 'url' | 'audio';

/**
 * `interface`: stated in interface.md. `observed`: seen in one deployment (docs/reference/interfaces.md), a default only.
 */
type Source = 'interface' | 'observed';

/** `sender`: a telephone number or short code, with or without a plus sign. */
export type TextForm = 'email address' | 'E.164' | 'sender';

export type FieldDefinition = {
  /** The name in campaigns, the ledger and journals (interface.md, 2.1–2.7). */
  readonly name: string;
  /** The JSON key and XML element name. */
  readonly wireName: string;
  readonly type: FieldType;
  readonly channels: readonly Channel[];
  /** `one of`: at least one such field (or, for a fax, a file) must be present. */
  readonly required: 'yes' | 'one of' | 'no';
  readonly form?: TextForm;
  /** Section 2.4 lists it as required, and its samples leave such fields out: an account can allow none. */
  readonly expected?: true;
  /** In other fields a line break could forge a mail header. */
  readonly multiline?: true;
  readonly limit?: number;
  readonly range?: readonly [number, number];
  /** Values that are known to be accepted, in any case. */
  readonly values?: readonly string[];
  /** An integer that the samples write as text. */
  readonly asText?: true;
  readonly cdata?: true;
  readonly source: Source;
};

type Traits = Partial<Omit<FieldDefinition, 'name' | 'channels'>>;

const email: readonly Channel[] = ['email'];
const sms: readonly Channel[] = ['sms'];
const fax: readonly Channel[] = ['fax'];
const voice: readonly Channel[] = ['voice'];
const tts: readonly Channel[] = ['tts'];
export const callChannels: readonly Channel[] = [...voice, ...tts];
export const writtenChannels: readonly Channel[] = [...email, ...sms, ...fax];

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
const emailAddress: Traits = { form: 'email address' };
const sendTime: Traits = { type: 'time' };

const emailFields: readonly FieldDefinition[] = [
  field('EmailSubject', email, { expected: true, limit: 1024, source: 'observed' }),
  field('SMTPFrom', email, emailAddress),
  field('From', email, { limit: 30, source: 'observed' }),
  field('FromEmail', email, { ...emailAddress, limit: 100, source: 'observed' }),
  field('CCEmail', email, emailAddress),
  field('ReplyTo', email, emailAddress),
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
  field('FromNumber', sms, { form: 'sender' }),
  field('SMSEmailReply', sms, emailAddress),
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
  field('CallerID', callChannels, { form: 'E.164' }),
  field('Voice', tts),
  field('Options', callChannels),
];

/** In wire order, so that a request always has the same bytes. */
const rest202Fields: readonly FieldDefinition[] = [
  field('Reference', writtenChannels, reference),
  field('WebhookCallbackURL', writtenChannels, { type: 'url' }),
  field('WebhookCallbackFormat', writtenChannels, { values: ['JSON', 'XML'] }),
  field('SendTime', writtenChannels, sendTime),
  field('TimeZone', writtenChannels, { type: 'zone' }),
  field('SubAccount', writtenChannels, account),
  field('Department', writtenChannels, account),
  field('ChargeCode', writtenChannels),
  // Not in interface.md; the one observed client calls it Mode.
  field('SendMode', writtenChannels, { wireName: 'Mode', values: [], source: 'observed' }),
  ...emailFields,
  ...smsFields,
  field('CharacterConversion', sms, characterConversion),
  ...faxFields,
];

/** Calls in versions 2.03 and 2.04 (docs/reference/interfaces.md). Only the service's side reads them. */
const laterCallFields: readonly FieldDefinition[] = [
  ...rest202Fields
    .filter(({ channels: of }) => of === writtenChannels)
    .map((common) => ({ ...common, channels: callChannels })),
  ...callFields,
];

/** Section 2.8. No sample contains `SendMode` (section 1). */
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

/** Section 2.10. Assumption: `billing_account` is the ChargeCode. */
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

/** The names of all interfaces and channels. */
export const messageFieldNames: readonly string[] = [
  ...new Set(
    Object.values(fieldsByInterface)
      .flat()
      .map(({ name }) => name),
  ),
];

/** In wire order; none when the interface lacks the channel. */
export function messageFields(interfaceName: InterfaceName, channel: Channel): readonly FieldDefinition[] {
  return byChannel.get(`${interfaceName} ${channel}`) ?? [];
}

/** The fields of `messageFields`, and those of calls in later versions. */
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
