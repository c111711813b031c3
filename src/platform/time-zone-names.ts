import { Temporal } from 'temporal-polyfill';
import { closestWord, oneErrorInFive } from './suggestions.ts';

/**
 * The name of a time zone of the IANA database, spelt as there, such as `Pacific/Auckland`.
 *
 * The runtime alone takes more: offsets such as +12:00, which know no daylight saving, and old abbreviations of its own
 * library, by which BST is Dhaka and IST Calcutta.
 *
 * @param text in capitals or not
 * @returns undefined for what is no such name
 */
export function timeZoneName(text: string): string | undefined {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId;
  } catch {
    return undefined;
  }
}

/** " Did you mean …?" for what is no name of a time zone; empty when none is near. A city alone tells its zone. */
export function didYouMeanZone(text: string): string {
  const names = [...Intl.supportedValuesOf('timeZone'), 'UTC'];
  const cities = new Map(names.map((name) => [name.split('/').at(-1) ?? name, name]));
  const written = text.trim().replaceAll(' ', '_');
  const byCity = written.includes('/')
    ? undefined
    : cities.get(closestWord(written, [...cities.keys()], oneErrorInFive) ?? '');
  const zone = byCity ?? closestWord(written, names, oneErrorInFive);
  return zone === undefined ? '' : ` Did you mean "${zone}"?`;
}
