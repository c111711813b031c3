import { channels, type InterfaceName, interfaceNames } from '../domain/message.ts';
import { type FieldDefinition, messageFieldNames, messageFields } from '../wire/fields.ts';

/**
 * The keys of a campaign's `message`: a field's own name, or its name in the account's REST interface
 * (`ForceGSMChars`; interface.md, 2.8). SOAP element names are not keys.
 */

/** Its own name first. */
export function keysOf(interfaceName: InterfaceName, { name, wireName }: FieldDefinition): readonly string[] {
  return interfaceName === 'soap-tts' || wireName === name ? [name] : [name, wireName];
}

const fieldNameOfKey = new Map<string, string>(messageFieldNames.map((name) => [name, name]));
for (const interfaceName of interfaceNames) {
  for (const definition of channels.flatMap((channel) => messageFields(interfaceName, channel))) {
    for (const key of keysOf(interfaceName, definition)) fieldNameOfKey.set(key, definition.name);
  }
}

export const messageKeys: readonly string[] = [...fieldNameOfKey.keys()];

export function fieldNameOf(key: string): string | undefined {
  return fieldNameOfKey.get(key);
}

const spoken = 'Voice: a WAV file, 16-bit, 8000 Hz. Text to speech: the text.';

/** One line on each message field, for editors (interface.md, 2.1, 2.4–2.8 and 2.10). */
const descriptions: Readonly<Record<string, string>> = {
  Reference: 'Free text of your own, repeated in every delivery report. At most 80 characters.',
  WebhookCallbackURL: "Where delivery reports go, instead of the sender's default. Begins with https://.",
  WebhookCallbackFormat: 'Format of the delivery reports: JSON or XML.',
  SendTime: "When the service sends, such as 2026-11-21T18:30, in the zone of TimeZone or else the sender's.",
  TimeZone: "The zone of SendTime, as a region name, instead of the sender's default.",
  SubAccount: 'The payer in reports and bills. Observed limit: 40 characters.',
  Department: 'Like SubAccount. Observed limit: 40 characters.',
  ChargeCode: 'The ChargeCode that the invoice is charged to.',
  EmailSubject: 'Email: the subject. Observed limit: 1024 characters.',
  SMTPFrom: 'Email: the address for bounces; FromEmail by default.',
  From: "Email: the sender's name, as the recipient sees it.",
  FromEmail: "Email: the sender's address, as the recipient sees it; the account's own by default.",
  CCEmail: 'Email: an address that receives a copy.',
  ReplyTo: 'Email: the address for replies.',
  MessagePlain: 'Email: the text part. You must set one of MessagePlain, MessageHTML and Template.',
  MessageHTML:
    'Email: the HTML part. Inserted values are HTML-escaped. Takes precedence over MessagePlain and Template.',
  TemplateLocation: 'Email: the folder of a template stored at the service.',
  Template: 'Email: the name of a template stored at the service, used when there is no other text.',
  Message: 'SMS: the text (required). Fax: a text to send if there are no files.',
  FromNumber: 'SMS: the sender number. In New Zealand, short codes override it.',
  SMSEmailReply: 'SMS: the e-mail address that receives replies.',
  CharacterConversion: 'SMS: true turns characters outside GSM into similar ones, such as © into (C).',
  Resolution: 'Fax: Low or High.',
  CSID: 'Fax: the station identifier of the sender. Observed limit: 30 characters.',
  RetryAttempts: 'Fax: how many times the service retries, 0 to 5. Calls: how many times it calls again.',
  RetryPeriod: 'Fax: minutes between two attempts, 0 to 60. Calls: the time between two calls.',
  SendMode:
    "Test for a simulated send; otherwise Normal. For earlier REST interfaces, and for rest-2.02 if the account's `allow` has it.",
  Mode: 'In rest-2.02: another name of SendMode.',
  MessageToPeople: `Played when a person answers; required. ${spoken}`,
  MessageToAnswerphones: `Played when an answering machine answers. ${spoken}`,
  CallRouteMessageToPeople: `Played to the person who pressed a button of Keypads. ${spoken}`,
  CallRouteMessageToOperators: `Played to the operator who answers the connected call. ${spoken}`,
  CallRouteMessageOnWrongKey: `Played when a button without a number is pressed. ${spoken}`,
  NumberOfOperators: 'Calls: how many can be made at the same time.',
  CallerID: 'Calls: the caller number, in international form such as +6491234567.',
  Voice: 'Text to speech: the name of the voice.',
  Options: 'Calls: free text for settings agreed with the service.',
  EndTime: 'SOAP text to speech: when calling ends, such as 2026-11-21T20:00.',
  ForceGSMChars: 'SMS in earlier REST interfaces: another name of CharacterConversion.',
};

/** @throws Error for a key without a description, so that each new key gets one */
export function describeMessageKey(key: string): string {
  const description = descriptions[key];
  if (description === undefined) throw new Error(`The message field ${key} has no description.`);
  return description;
}
