import { Temporal } from 'temporal-polyfill';

/**
 * The name of a time zone of the IANA database, spelt as there, such as `Pacific/Auckland`.
 *
 * The runtime alone takes more: offsets such as +12:00, which know no daylight saving, and old abbreviations of its own
 * library, by which BST is Dhaka and IST Calcutta.
 *
 * @param text in capitals or not
 * @returns undefined for what is no such name
 */
export function regionName(text: string): string | undefined {
  if (!/^[A-Za-z][\w+/-]*$/.test(text)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId;
  } catch {
    return undefined;
  }
}
