import type { InterfaceName } from '../domain/message.ts';
import { didYouMeanZone } from '../platform/time-zone-names.ts';
import type { FieldDefinition, TextForm } from './fields.ts';
import { isTimeZone, regionOf, windowsZone } from './time-zone.ts';

/**
 * Converts domain values (text, ISO 8601 times, region names) to an interface's form, and back. Earlier
 * versions write `dd/mm/yyyy HH:mm` and Windows zones (interface.md, 2.8). SOAP times are not shown; they are
 * assumed to be the same.
 */

/** @returns "expected …, got …."; undefined if the value is valid */
export function wireValueError(
  interfaceName: InterfaceName,
  { type }: FieldDefinition,
  value: string,
): string | undefined {
  const got = `got "${value}".`;
  switch (type) {
    case 'boolean':
      return value === 'true' || value === 'false' ? undefined : `expected true or false, ${got}`;
    case 'integer':
      return /^(0|[1-9]\d{0,8})$/.test(value) ? undefined : `expected a whole number, ${got}`;
    case 'time':
      return timeError(interfaceName, value);
    case 'zone':
      return zoneError(interfaceName, value);
    case 'text':
    case 'url':
    case 'audio':
      return undefined;
  }
}

const forms: Readonly<Record<TextForm, { readonly pattern: RegExp; readonly what: string }>> = {
  'email address': { pattern: /^[^\s@]+@[^\s@]+$/, what: 'an e-mail address such as info@example.com' },
  'E.164': { pattern: /^\+?[1-9]\d{6,14}$/, what: 'a number in E.164 such as +6493012345' },
  sender: { pattern: /^\+?\d{3,15}$/, what: 'the digits of a number or short code such as +6421345678' },
};

/** Checks the form of a text as `wireValueError` checks its type. An empty value counts as an absent field. */
export function formError({ form }: FieldDefinition, value: string): string | undefined {
  if (form === undefined) return undefined;
  const { pattern, what } = forms[form];
  return value.trim() === '' || pattern.test(value) ? undefined : `expected ${what}, got "${value}".`;
}

/** Characters as people count them in a text, and not the halves of which an emoji consists in memory. */
export function isLongerThan(text: string, limit: number): boolean {
  return text.length > limit && countCharacters(text) > limit;
}

export function countCharacters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function timeError(interfaceName: InterfaceName, value: string): string | undefined {
  if (!isTime(value)) return `expected a date and time such as 2026-11-21T18:30, got "${value}".`;
  if (interfaceName !== 'rest-2.02' && !/:00$|T\d\d:\d\d$/.test(value)) {
    return `expected a time without seconds, which ${interfaceName} cannot express, got "${value}".`;
  }
  return undefined;
}

function zoneError(interfaceName: InterfaceName, value: string): string | undefined {
  const expected = 'expected a time zone such as Pacific/Auckland or AUS Eastern';
  if (!isTimeZone(value)) return `${expected}, got "${value}".${didYouMeanZone(value)}`;
  if (interfaceName !== 'rest-2.02' && windowsZone(value) === undefined) {
    return `${expected}; ${interfaceName} accepts Windows zones, and there is none for "${value}".`;
  }
  return undefined;
}

/** `YYYY-MM-DDTHH:mm` or `YYYY-MM-DDTHH:mm:ss`, on an existing day. */
export function isTime(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text)) return false;
  const milliseconds = Date.parse(`${text}Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text);
}

/** @throws Error for an invalid value (`wireValueError`) */
export function toWireText(interfaceName: InterfaceName, field: FieldDefinition, value: string): string {
  const wrong = wireValueError(interfaceName, field, value);
  if (wrong !== undefined) throw new Error(`${field.name}: ${wrong}`);
  if (interfaceName === 'rest-2.02') return toDocumentedCase(field, value);
  switch (field.type) {
    case 'time': {
      const [year, month, day, time] = [
        value.slice(0, 4),
        value.slice(5, 7),
        value.slice(8, 10),
        value.slice(11, 16),
      ];
      return `${day}/${month}/${year} ${time}`;
    }
    case 'zone':
      return windowsZone(value) ?? value;
    default:
      return toDocumentedCase(field, value);
  }
}

/** Returns the case of the closed list: campaigns may write `json` for `JSON`. */
function toDocumentedCase({ values }: FieldDefinition, value: string): string {
  return values?.find((known) => known.toLowerCase() === value.toLowerCase()) ?? value;
}

/** Converts a received value back. An unreadable value stays unchanged. */
export function fromWireText(interfaceName: InterfaceName, field: FieldDefinition, text: string): string {
  if (interfaceName === 'rest-2.02') return text;
  switch (field.type) {
    case 'time': {
      const [, day, month, year, time] = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d:\d\d)$/.exec(text) ?? [];
      const iso = `${year}-${month}-${day}T${time}`;
      return isTime(iso) ? iso : text;
    }
    case 'zone':
      return regionOf(text) ?? text;
    default:
      return text;
  }
}

/** E.164 without its plus sign. */
export const internationalNumber = /^[1-9]\d{6,14}$/;

/**
 * Earlier versions write numbers "without a leading plus sign" (2.8).
 *
 * @throws Error if the number could not be read back unchanged
 */
export function toWireRecipient(interfaceName: InterfaceName, recipient: string): string {
  if (interfaceName === 'rest-2.02') return recipient;
  const number = recipient.slice(1);
  if (!recipient.startsWith('+') || !internationalNumber.test(number)) {
    throw new Error(`${interfaceName} needs telephone numbers in E.164, got "${recipient}"`);
  }
  return number;
}

export function fromWireRecipient(interfaceName: InterfaceName, recipient: string): string {
  return interfaceName !== 'rest-2.02' && internationalNumber.test(recipient) ? `+${recipient}` : recipient;
}

/** Whether a text is base64 in whole groups of four characters; spaces and line breaks may be anywhere. */
export function isBase64(text: string): boolean {
  if (/[^\sA-Za-z0-9+/=]|=[^=\s]/.test(text)) return false;
  const written = text.replaceAll(/\s+/g, '');
  return written.length % 4 === 0 && !written.endsWith('===');
}

/** Whether the content is 16-bit audio of 8000 Hz: PCM in a RIFF file (2.7 and 8); its format is in a chunk of its own, after any others. */
export function isCallAudio(content: Buffer): boolean {
  if (content.toString('latin1', 0, 4) !== 'RIFF' || content.toString('latin1', 8, 12) !== 'WAVE')
    return false;
  for (let at = 12; at + 24 <= content.length; ) {
    if (content.toString('latin1', at, at + 4) === 'fmt ') {
      const [format, sampleRate] = [content.readUInt16LE(at + 8), content.readUInt32LE(at + 12)];
      return format === 1 && sampleRate === 8_000 && content.readUInt16LE(at + 22) === 16;
    }
    const size = content.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return false;
}
