import type { SendRequest } from '../domain/message.ts';
import { canBeMessageId } from '../domain/message-id.ts';
import { type FieldDefinition, type FieldType, serviceSideFields } from './fields.ts';
import { asText, isBlank, isObject, type JsonObject, member } from './json.ts';
import type { MessageOrigin, ReceivedMessage } from './message.ts';
import { destinationFieldDefinitions, keypadTones } from './message-parts.ts';
import { noValidDestination } from './required-fields.ts';
import type { Rest2Version } from './rest-2-head.ts';
import { isTimeZone, windowsZone } from './time-zone.ts';
import type { Credentials } from './wire-interface.ts';
import {
  fromWireText,
  internationalNumber,
  isBase64,
  isCallAudio,
  isLongerThan,
  isTime,
} from './wire-values.ts';

/**
 * Values that interface.md forbids. The service checks only presence (section 1); the sandbox checks more, to
 * find faults of a client. Observed rules are left out: another service may accept e.g. Resolution Fine.
 * Texts are the observed ones where there are any (docs/reference/interfaces.md, "Rejection texts").
 *
 * The parser drops a value of another type than interface.md gives it (2.1–2.8), or reads a number as a text, so a client
 * would not notice.
 */

/**
 * Returns the problems in the service's words.
 *
 * @param typed the parts with the numbers of JSON as numbers
 */
export function forbiddenValues(
  origin: MessageOrigin,
  parts: ReceivedMessage,
  request: SendRequest,
  typed = parts,
): readonly string[] {
  return [
    ...messageIdFaults(origin, request, typed.messageId),
    ...listFaults(origin, parts.members),
    ...fieldFaults(origin, parts.members, typed.members),
    ...destinationFaults(origin, request, typed.destinations),
    ...typed.files.flatMap((entry, index) => fileFaults(entry, index + 1)),
    ...typed.keypads.flatMap((entry, index) => (isObject(entry) ? [] : [`Invalid keypad ${index + 1}`])),
    ...keypadFaults(origin, request),
  ];
}

/** The sender of the earlier interfaces is "the user's email address" (section 5). */
export function forbiddenCredentials(credentials: Credentials | undefined): readonly string[] {
  const faulty =
    credentials?.kind === 'apiKey' && !isBlank(credentials.sender) && !isEmailAddress(credentials.sender);
  return faulty ? [invalidSender] : [];
}

const invalidSender = 'Invalid sender format';

/** A client may send null for what it does not have. */
function isText(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}

/** Section 2.1. Later versions show hyphens; in SOAP another standard defines it. */
function messageIdFaults(
  { interface: name, version }: MessageOrigin,
  { messageId }: SendRequest,
  written: unknown,
): readonly string[] {
  const faults = isText(written) ? [] : ['MessageID must be text'];
  if (messageId === undefined || name === 'soap-tts') return faults;
  const normalised = isLater(version) ? messageId.replaceAll('-', '0') : messageId;
  return canBeMessageId(normalised)
    ? faults
    : [...faults, 'Invalid MessageID. It must be alphanumeric and at most 40 characters'];
}

function isLater(version: Rest2Version | undefined): boolean {
  return version !== undefined && version !== 'v2.02';
}

/** Version 2.02 in XML (2.2 and 2.3). */
const entryNames: Readonly<Record<string, string>> = { Destinations: 'Destination', Files: 'File' };

/** The parser would silently ignore all recipients or files of a value that is no list. */
function listFaults({ interface: name, format }: MessageOrigin, members: JsonObject): readonly string[] {
  if (name === 'soap-tts') return [];
  return ['Destinations', 'Files', 'Keypads'].flatMap((list) => {
    const value = member(members, list);
    const entry = entryNames[list];
    if (value === undefined || value === '') return [];
    if (format === 'json') return Array.isArray(value) ? [] : [`${list} must be a list`];
    if (name !== 'rest-2.02' || entry === undefined) return [];
    return isObject(value) && Object.hasOwn(value, entry)
      ? []
      : [`${list} must be one element that contains ${entry}`];
  });
}

/** Samples write booleans and whole numbers as texts too. A blank field counts as absent: published clients send all fields. */
function fieldFaults(origin: MessageOrigin, members: JsonObject, typed: JsonObject): readonly string[] {
  return serviceSideFields(origin.interface, origin.channel).flatMap((definition) => {
    const { wireName, type } = definition;
    const value = member(typed, wireName);
    if (!isText(value) && typeof value !== jsonTypes[type]) return [`${wireName} must be ${typeWords(type)}`];
    const text = asText(member(members, wireName))?.trim() ?? '';
    const fault = text === '' ? undefined : fieldFault(origin, definition, text);
    return fault === undefined ? [] : [fault];
  });
}

const jsonTypes: Readonly<Partial<Record<FieldType, string>>> = { boolean: 'boolean', integer: 'number' };

function typeWords(type: FieldType): string {
  if (type === 'boolean') return 'true or false';
  return type === 'integer' ? 'a whole number' : 'text';
}

const senderFields: readonly string[] = ['FromEmail', 'SMTPFrom'];

function fieldFault(
  { interface: interfaceName, version }: MessageOrigin,
  definition: FieldDefinition,
  text: string,
): string | undefined {
  const { name, wireName, type, limit, values, source } = definition;
  if (senderFields.includes(name) && !isEmailAddress(text)) return invalidSender;
  if (name === 'CallerID' && !isPhoneNumber(text)) return `Invalid ${wireName} format`;
  if (source === 'interface') {
    if (limit !== undefined && isLongerThan(text, limit))
      return `${wireName} must be at most ${limit} characters`;
    // Clients of later versions write any case.
    const written = isLater(version) ? text.toUpperCase() : text;
    if (values && !values.includes(written)) return `${wireName} must be ${values.join(' or ')}`;
  }
  switch (type) {
    case 'boolean':
      return /^(true|false)$/i.test(text) ? undefined : `${wireName} must be ${typeWords(type)}`;
    case 'integer':
      return /^\d{1,9}$/.test(text) ? undefined : `${wireName} must be ${typeWords(type)}`;
    case 'time': {
      // Sections 2.1 and 2.8; SOAP times are not shown.
      if (interfaceName === 'soap-tts') return undefined;
      const isRest2 = interfaceName === 'rest-2.02';
      // Clients of later versions write a blank before the time.
      const isRight = isRest2
        ? isTime(isLater(version) ? text.replace(' ', 'T') : text)
        : fromWireText(interfaceName, definition, text) !== text;
      const expected = isRest2 ? 'YYYY-MM-DDTHH:mm or YYYY-MM-DDTHH:mm:ss' : 'dd/mm/yyyy HH:mm';
      return isRight ? undefined : `Invalid ${wireName}. Expected ${expected}`;
    }
    case 'zone': {
      // Earlier versions accept only Windows zones (2.8), 2.02 both (observed).
      const isWindowsZone = windowsZone(text) !== undefined && !/^[A-Za-z]+\//.test(text);
      const isRight = interfaceName === 'rest-2.02' ? isTimeZone(text) : isWindowsZone;
      return isRight ? undefined : `Invalid ${wireName}`;
    }
    case 'url':
      return /^https?:\/\//.test(text) && !URL.canParse(text) ? `${wireName} must be a full path` : undefined;
    case 'audio':
      if (!isBase64(text)) return `${wireName} must be base64`;
      // Later versions are not shown.
      return isLater(version) || isCallAudio(Buffer.from(text, 'base64'))
        ? undefined
        : `${wireName} must be WAV audio, 16-bit, 8000 Hz`;
    case 'text':
      return undefined;
  }
}

/**
 * Earlier versions have plain texts too (2.8). Version 2.02 documents objects only; later versions are not shown. Invalid
 * addresses fail individually, unless none is valid.
 */
function destinationFaults(
  { interface: name, version }: MessageOrigin,
  { channel, destinations }: SendRequest,
  entries: readonly unknown[],
): readonly string[] {
  const acceptsText = name !== 'rest-2.02' || version !== 'v2.02';
  const faults = entries.flatMap((entry, index) => {
    if (typeof entry === 'string' && acceptsText) return [];
    if (!isObject(entry)) return [`Invalid destination ${index + 1}. It must hold a Recipient`];
    return destinationFieldDefinitions
      .flatMap((field) => [...new Set([field.name, field.xmlName])])
      .filter((key) => !isText(member(entry, key)))
      .map((key) => `${key} of destination ${index + 1} must be text`);
  });
  const isAddress = channel === 'email' ? isEmailAddress : isPhoneNumber;
  const written = destinations.map(({ Recipient }) => Recipient.trim()).filter((text) => text !== '');
  return written.length > 0 && !written.some(isAddress) ? [...faults, noValidDestination] : faults;
}

/** Those of a fax are required, and lenient sandboxes refuse them too. */
function fileFaults(entry: unknown, place: number): readonly string[] {
  if (!isObject(entry)) return [`Invalid file ${place}. It must hold Name and Data`];
  const faults = (['Name', 'Data'] as const).flatMap((key) => {
    const value = member(entry, key);
    if (!isText(value)) return [`${key} of file ${place} must be text`];
    return isBlank(asText(value)) ? [`Missing file ${key.toLowerCase()} on file ${place}`] : [];
  });
  if (isBase64(asText(member(entry, 'Data')) ?? '')) return faults;
  return [...faults, `Invalid file data on file ${place}. It must be base64`];
}

/** 1 to 9 (section 8); later versions, and the service's error text, include 0. */
function keypadFaults({ version }: MessageOrigin, { keypads }: SendRequest): readonly string[] {
  const hasZero = isLater(version);
  return keypads.flatMap(({ Tone, RouteNumber }, index) => {
    const tone = Tone.trim();
    const isRepeated = tone !== '' && keypads.slice(0, index).some((other) => other.Tone.trim() === tone);
    const isButton = tone === '' || keypadTones.includes(tone) || (hasZero && tone === '0');
    const lowest = tone === '0' ? 1 : 0;
    return [
      ...(isRepeated ? [`Repeated tone on keypad ${index + 1}`] : []),
      ...(isButton ? [] : [`Invalid tone on keypad ${index + 1}. Tone must be between ${lowest}~9`]),
      ...(isBlank(RouteNumber) || isPhoneNumber(RouteNumber.trim())
        ? []
        : [`Invalid RouteNumber format on keypad ${index + 1}`]),
    ];
  });
}

function isEmailAddress(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text.trim());
}

/** E.164 after a plus sign, otherwise national, with the usual separators. */
function isPhoneNumber(text: string): boolean {
  const digits = text.replaceAll(/[\s().-]/g, '');
  return digits.startsWith('+') ? internationalNumber.test(digits.slice(1)) : /^\d{1,15}$/.test(digits);
}
