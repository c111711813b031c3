import { type AsOf, replicaProblemText } from '../domain/replica.ts';
import { plainScreen, type Screen } from './screen.ts';

/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function formatUtc(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}

/** `2026-11-27 21:04:05 UTC`, and where there is a replica, how old it is or why it was not read. */
export function formatAsOf({ at, read }: AsOf): string {
  const time = `${formatUtc(at)} UTC`;
  if (read === undefined) return time;
  if (read.from === 'replica') return `${time}, ${read.secondsBehind} s behind`;
  return `${time}, from the primary: ${replicaProblemText(read.because)}`;
}

/** The same, for JSON. */
export function asOfFields({ at, read }: AsOf): Readonly<Record<string, unknown>> {
  if (read?.from !== 'primary') return { asOf: at, read };
  return { asOf: at, read: { ...read, because: replicaProblemText(read.because) } };
}

/** Creating a format takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** `YYYY-MM-DD HH:mm:ss` in an IANA time zone. */
export function formatLocal(time: Date, timeZone: string): string {
  if (timeZone === 'UTC') return formatUtc(time);
  // Swedish dates have this form.
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(timeZone, format);
  return format.format(time);
}

export function screenZone({ zone = 'UTC' }: Screen = plainScreen): string {
  return zone;
}

/** `YYYY-MM-DD HH:mm:ss` in the screen's zone. */
export function formatTime(screen: Screen | undefined, time: Date): string {
  return formatLocal(time, screenZone(screen));
}

/** `2026-12-01 09:00 Pacific/Auckland`. */
export function formatMinute(screen: Screen | undefined, time: Date): string {
  return `${formatTime(screen, time).slice(0, 16)} ${screenZone(screen)}`;
}

/** Converts times written by `toISOString` to the screen's zone. Quoted times stay. */
export function localizeTimes(screen: Screen | undefined, text: string): string {
  return text.replaceAll(
    /(?<!")\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b(?!")/g,
    (time) => `${formatTime(screen, new Date(time))} ${screenZone(screen)}`,
  );
}

/** A time that is left: `12 s`, `3 min` or `1.5 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`;
  return `${(seconds / 3_600).toFixed(1)} h`;
}

export type TimeUnit = 'second' | 'minute' | 'hour' | 'day';

/** @param at the local start of a second, minute, hour or day: `2026-11-03T04` becomes `2026-11-03 04:00` */
export function formatUnitStart(unit: TimeUnit, at: string): string {
  return `${at.replace('T', ' ')}${unit === 'hour' ? ':00' : ''}`;
}
