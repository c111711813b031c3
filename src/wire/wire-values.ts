import type { InterfaceName } from '../domain/message.ts';
import { didYouMeanZone } from '../platform/time-zone-names.ts';
import type { FieldDefinition } from './fields.ts';
import { isTimeZone, regionOf, windowsZone } from './time-zone.ts';

/**
 * Values of the domain (text, ISO 8601 times, region names) into what an interface takes, and back. Version 2.02 takes
 * them as they are; earlier ones write `dd/mm/yyyy HH:mm` and Windows zones (interface.md, 2.8). The formats of the
 * SOAP times are not shown; they are taken for those of the interfaces of its age.
 */

/** What is wrong with a value for this interface ("expected …, got …."); undefined when nothing is. */
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

function timeError(interfaceName: InterfaceName, value: string): string | undefined {
  if (!isTime(value)) return `expected a date and time such as 2026-11-21T18:30, got "${value}".`;
  if (interfaceName !== 'rest-2.02' && !/:00$|T\d\d:\d\d$/.test(value)) {
    return `expected a time without seconds, which ${interfaceName} cannot say, got "${value}".`;
  }
  return undefined;
}

function zoneError(interfaceName: InterfaceName, value: string): string | undefined {
  const expected = 'expected a time zone such as Pacific/Auckland or AUS Eastern';
  if (!isTimeZone(value)) return `${expected}, got "${value}".${didYouMeanZone(value)}`;
  if (interfaceName !== 'rest-2.02' && windowsZone(value) === undefined) {
    return `${expected}; ${interfaceName} takes Windows zones, and there is none for "${value}".`;
  }
  return undefined;
}

/** `YYYY-MM-DDTHH:mm` or `YYYY-MM-DDTHH:mm:ss`, of a day that exists. */
export function isTime(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$/.test(text)) return false;
  const milliseconds = Date.parse(`${text}Z`);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text);
}

/** A value as the interface takes it, still as text. @throws Error for a value that `wireValueError` finds fault with */
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

/** A value of a closed list in the capitals that the list has: campaigns may write `json` for `JSON`. */
function toDocumentedCase({ values }: FieldDefinition, value: string): string {
  return values?.find((known) => known.toLowerCase() === value.toLowerCase()) ?? value;
}

/** A value as it was received, as the domain has it; what cannot be read stays as it came. */
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
 * A telephone number as the interface takes it: earlier versions are shown numbers "without a leading plus sign" (2.8).
 *
 * @throws Error where the number would not be the same when it is read back
 */
export function toWireRecipient(interfaceName: InterfaceName, recipient: string): string {
  if (interfaceName === 'rest-2.02') return recipient;
  const number = recipient.slice(1);
  if (!recipient.startsWith('+') || !internationalNumber.test(number)) {
    throw new Error(`${interfaceName} takes telephone numbers in E.164, got "${recipient}"`);
  }
  return number;
}

/** The reverse: a number in international form without its plus sign gets it back. */
export function fromWireRecipient(interfaceName: InterfaceName, recipient: string): string {
  return interfaceName !== 'rest-2.02' && internationalNumber.test(recipient) ? `+${recipient}` : recipient;
}
