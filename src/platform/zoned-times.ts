import { Temporal } from 'temporal-polyfill';

/**
 * The moment of a local time; one that comes twice is the first, one that is left out as much later as the clocks are put
 * forward.
 *
 * @param local `2026-12-01T09:00`, with or without seconds
 */
export function toInstant(local: string, zone: string): Date {
  const time = Temporal.PlainDateTime.from(local).toZonedDateTime(zone);
  return new Date(time.epochMilliseconds);
}

/** The local time of a moment to the second: `2026-12-01 09:00:00`. */
export function formatLocalTime(at: Date, zone: string): string {
  // By far the most common zone, and a hundredth of the time.
  if (zone === 'UTC') return at.toISOString().slice(0, 19).replace('T', ' ');
  const time = Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
  return time.toPlainDateTime().toString({ smallestUnit: 'second', roundingMode: 'trunc' }).replace('T', ' ');
}
