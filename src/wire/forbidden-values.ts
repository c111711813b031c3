import type { InterfaceName, SendRequest } from '../domain/message.ts';
import { canBeMessageId } from '../domain/message-id.ts';
import { type FieldDefinition, serviceSideFields } from './fields.ts';
import { asText, isBlank, isObject, type JsonObject, member } from './json.ts';
import type { MessageOrigin, ReceivedMessage } from './message.ts';
import { keypadTones } from './message-parts.ts';
import { noValidDestination } from './required-fields.ts';
import type { Rest2Version } from './rest-2-head.ts';
import { isTimeZone, windowsZone } from './time-zone.ts';
import type { Credentials } from './wire-interface.ts';
import { internationalNumber, isBase64, isCallAudio, isLongerThan, isTime } from './wire-values.ts';
import { wrongTypes } from './wrong-types.ts';

/**
 * Values that interface.md forbids. The service checks only presence (section 1); the sandbox checks more, to
 * find faults of a client. Observed rules are left out: another service may accept e.g. Resolution Fine.
 * Texts are the observed ones where there are any (docs/reference/interfaces.md, "Rejection texts").
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
    ...wrongTypes(origin, typed),
    ...messageIdFaults(origin, request),
    ...listFaults(origin, parts.members),
    ...fieldFaults(origin, parts.members),
    ...destinationFaults(request),
    ...fileFaults(request),
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

/** Section 2.1. Later versions show hyphens; in SOAP another standard defines it. */
function messageIdFaults(
  { interface: name, version }: MessageOrigin,
  { messageId }: SendRequest,
): readonly string[] {
  if (messageId === undefined || name === 'soap-tts') return [];
  const normalised = isLater(version) ? messageId.replaceAll('-', '0') : messageId;
  return canBeMessageId(normalised)
    ? []
    : ['Invalid MessageID. It must be alphanumeric and at most 40 characters'];
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

/** A blank field counts as absent: published clients send all fields. */
function fieldFaults(origin: MessageOrigin, members: JsonObject): readonly string[] {
  return serviceSideFields(origin.interface, origin.channel).flatMap((definition) => {
    const text = asText(member(members, definition.wireName));
    const fault =
      text === undefined || isBlank(text) ? undefined : fieldFault(origin, definition, text.trim());
    return fault === undefined ? [] : [fault];
  });
}

const senderFields: readonly string[] = ['FromEmail', 'SMTPFrom'];

function fieldFault(
  { interface: interfaceName, version }: MessageOrigin,
  { name, wireName, type, limit, values, source }: FieldDefinition,
  text: string,
): string | undefined {
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
      return /^(true|false)$/i.test(text) ? undefined : `${wireName} must be true or false`;
    case 'integer':
      return /^\d{1,9}$/.test(text) ? undefined : `${wireName} must be a whole number`;
    case 'time':
      // Clients of later versions write a blank before the time.
      return timeFault(interfaceName, wireName, isLater(version) ? text.replace(' ', 'T') : text);
    case 'zone':
      return isSupportedZone(interfaceName, text) ? undefined : `Invalid ${wireName}`;
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

/** Sections 2.1 and 2.8; SOAP times are not shown. */
function timeFault(interfaceName: InterfaceName, wireName: string, text: string): string | undefined {
  switch (interfaceName) {
    case 'rest-2.02':
      return isTime(text)
        ? undefined
        : `Invalid ${wireName}. Expected YYYY-MM-DDTHH:mm or YYYY-MM-DDTHH:mm:ss`;
    case 'soap-tts':
      return undefined;
    default:
      return isRest1Time(text) ? undefined : `Invalid ${wireName}. Expected dd/mm/yyyy HH:mm`;
  }
}

function isRest1Time(text: string): boolean {
  const [, day, month, year, time] = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d:\d\d)$/.exec(text) ?? [];
  return isTime(`${year}-${month}-${day}T${time}`);
}

/** Earlier versions accept only Windows zones (2.8), 2.02 both (observed). */
function isSupportedZone(interfaceName: InterfaceName, text: string): boolean {
  if (interfaceName === 'rest-2.02') return isTimeZone(text);
  return windowsZone(text) !== undefined && !/^[A-Za-z]+\//.test(text);
}

/** Only if no recipient is valid; otherwise invalid ones fail individually. */
function destinationFaults({ channel, destinations }: SendRequest): readonly string[] {
  const isAddress = channel === 'email' ? isEmailAddress : isPhoneNumber;
  const written = destinations.map(({ Recipient }) => Recipient.trim()).filter((text) => text !== '');
  return written.length > 0 && !written.some(isAddress) ? [noValidDestination] : [];
}

function fileFaults({ files }: SendRequest): readonly string[] {
  return files.flatMap(({ Data }, index) =>
    isBase64(Data) ? [] : [`Invalid file data on file ${index + 1}. It must be base64`],
  );
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
