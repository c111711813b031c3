import { Temporal } from 'temporal-polyfill';
import { closestWord, oneErrorInFive } from './suggestions.ts';

/**
 * Returns the IANA spelling of a time zone, such as `Pacific/Auckland`.
 *
 * The runtime also accepts offsets such as +12:00, which ignore daylight saving, and obsolete abbreviations:
 * its BST is Dhaka, its IST Calcutta.
 *
 * @param text in any case
 * @returns undefined for other text
 */
export function timeZoneName(text: string): string | undefined {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId;
  } catch {
    return undefined;
  }
}

/** " Did you mean …?", or nothing if no name is close. Accepts a city without its region. */
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
