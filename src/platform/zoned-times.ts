import { Temporal } from 'temporal-polyfill';

/**
 * Converts local time. Uses the first of a repeated time; moves a skipped time forward by the clock change.
 *
 * @param local `2026-12-01T09:00`, with or without seconds
 */
export function toInstant(local: string, zone: string): Date {
  const time = Temporal.PlainDateTime.from(local).toZonedDateTime(zone);
  return new Date(time.epochMilliseconds);
}

/** Returns `2026-12-01 09:00:00`. */
export function formatLocalTime(at: Date, zone: string): string {
  // The most common zone; a hundred times faster.
  if (zone === 'UTC') return at.toISOString().slice(0, 19).replace('T', ' ');
  const time = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
  return time.toPlainDateTime().toString({ smallestUnit: 'second', roundingMode: 'trunc' }).replace('T', ' ');
}
