import { z } from 'zod';
import { channels, type InterfaceName, interfaceNames } from '../domain/message.ts';
import { text } from '../platform/scalars.ts';
import { type FieldDefinition, messageFieldNames, messageFields } from '../wire/fields.ts';
import { keypadTones } from '../wire/message-parts.ts';

/**
 * The keys of a campaign's `message`: a field's own name, or its name in the account's REST interface
 * (`ForceGSMChars`; interface.md, 2.8). SOAP element names are not keys.
 */

/** Its own name first. */
export function keysOf(interfaceName: InterfaceName, { name, wireName }: FieldDefinition): readonly string[] {
  return interfaceName === 'soap-tts' || wireName === name ? [name] : [name, wireName];
}

const fieldNameOfKey = new Map<string, string>(messageFieldNames.map((name) => [name, name]));
const definitionsOf = new Map<string, FieldDefinition[]>(messageFieldNames.map((name) => [name, []]));
for (const interfaceName of interfaceNames) {
  for (const definition of channels.flatMap((channel) => messageFields(interfaceName, channel))) {
    for (const key of keysOf(interfaceName, definition)) fieldNameOfKey.set(key, definition.name);
    definitionsOf.get(definition.name)?.push(definition);
  }
}

export const messageKeys: readonly string[] = [...fieldNameOfKey.keys()];

export function fieldNameOf(key: string): string | undefined {
  return fieldNameOfKey.get(key);
}

/** One line on each message field, for editors (interface.md, 2.1, 2.4–2.8 and 2.10), without its length. */
const descriptions: Readonly<Record<string, string>> = {
  Reference: 'Free text, repeated in delivery reports.',
  WebhookCallbackURL: 'Where delivery reports go: https://…',
  WebhookCallbackFormat: 'Format of delivery reports: JSON or XML.',
  SendTime: "When the service sends, such as 2026-11-21T18:30, in TimeZone or else the sender's zone.",
  TimeZone: 'The zone of SendTime, as a region name.',
  SubAccount: 'The payer in reports and bills.',
  Department: 'Like SubAccount.',
  ChargeCode: 'What the invoice is charged to.',
  EmailSubject: 'Email: the subject.',
  SMTPFrom: 'Email: the address for bounces.',
  From: "Email: the sender's name.",
  FromEmail: "Email: the sender's address; by default the account's.",
  CCEmail: 'Email: a copy goes there.',
  ReplyTo: 'Email: the address for replies.',
  MessagePlain: 'Email: the text. Set this, MessageHTML or Template.',
  MessageHTML: 'Email: the HTML, with values escaped. Takes precedence over MessagePlain and Template.',
  TemplateLocation: 'Email: the folder of a template at the service.',
  Template: 'Email: a template at the service, without another text.',
  Message: 'SMS: the text. Fax: a text if there are no files.',
  FromNumber: 'SMS: the sender number. In New Zealand, short codes override it.',
  SMSEmailReply: 'SMS: replies go to this e-mail address.',
  CharacterConversion: 'SMS: true turns characters outside GSM into similar ones.',
  Resolution: 'Fax: Low or High.',
  CSID: 'Fax: the identifier of the sender.',
  RetryAttempts: 'How often the service tries again (fax: 0 to 5).',
  RetryPeriod: 'Minutes between two tries (fax: 0 to 60).',
  SendMode: "Test for a simulated send. In rest-2.02 only if the account's `allow` has it.",
  Mode: 'In rest-2.02: another name of SendMode.',
  MessageToPeople:
    'Calls: what a person hears. Voice: a WAV file, 16-bit, 8000 Hz. Text to speech: the text.',
  MessageToAnswerphones: 'Calls: what an answering machine hears.',
  CallRouteMessageToPeople: 'Calls: what a person hears who pressed a button.',
  CallRouteMessageToOperators: 'Calls: what the connected operator hears.',
  CallRouteMessageOnWrongKey: 'Calls: what a button without a number plays.',
  NumberOfOperators: 'Calls: how many at the same time.',
  CallerID: 'Calls: the caller number, such as +6491234567.',
  Voice: 'Text to speech: the name of the voice.',
  Options: 'Calls: settings agreed with the service.',
  EndTime: 'SOAP: when calling ends, such as 2026-11-21T20:00.',
  ForceGSMChars: 'Earlier REST interfaces: another name of CharacterConversion.',
};

/** @throws Error for a key without a description, so that each new key gets one */
export function describeMessageKey(key: string): string {
  const description = descriptions[key];
  if (description === undefined) throw new Error(`The message field ${key} has no description.`);
  return `${description}${lengthText(key)}`;
}

/** Nothing where the limit depends on the channel. */
function lengthText(key: string): string {
  const definitions = definitionsOf.get(fieldNameOf(key) ?? key) ?? [];
  const [first] = definitions;
  if (first?.limit === undefined || definitions.some(({ limit }) => limit !== first.limit)) return '';
  const limit = `${first.limit} characters.`;
  return first.source === 'observed' ? ` Observed limit: ${limit}` : ` At most ${limit}`;
}

const tone = z
  .string()
  .refine((written) => keypadTones.includes(written), { error: 'expected a button from 1 to 9' })
  .meta({ type: 'integer', minimum: 1, maximum: 9 })
  .describe('The telephone button.');

const keypad = z.strictObject({
  Tone: tone,
  RouteNumber: text.describe('The phone number that it connects to.'),
});

const keypads = z
  .array(keypad)
  .max(keypadTones.length, 'a telephone has at most 9 buttons')
  .superRefine((list, context) => {
    for (const [index, { Tone }] of list.entries()) {
      if (list.findIndex((other) => other.Tone === Tone) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'Tone'], message: 'expected each button once' });
    }
  })
  .describe('Calls: the buttons that connect to a number, at most 9.');

/** It is in the schema only so that its error can say why. */
const messageId = z
  .unknown()
  .refine(() => false, {
    error:
      'Volley creates it (at most 40 letters and digits, unique to each request); remove it from the campaign',
  })
  .meta({ not: {}, description: 'Not for campaigns: Volley creates it.' });

export const message = z
  .strictObject({
    ...Object.fromEntries(messageKeys.map((key) => [key, text.describe(describeMessageKey(key)).optional()])),
    Keypads: keypads.optional(),
    MessageID: messageId.optional(),
  })
  .describe(
    "The message, in the interface's field names. Values can contain [[Column]] and [[Column|fallback]].",
  );
