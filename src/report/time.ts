import { plainScreen, type Screen } from './screen.ts';

/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function formatUtc(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}

/** Making one takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** `YYYY-MM-DD HH:mm:ss` in a time zone of the IANA database. */
export function formatLocal(time: Date, timeZone: string): string {
  // Swedes write dates so.
  const format =
    formats.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  formats.set(timeZone, format);
  return format.format(time);
}

/** The zone of all times on a screen, by its name. */
export function screenZone({ zone = 'UTC' }: Screen = plainScreen): string {
  return zone;
}

/** A time on a screen: `YYYY-MM-DD HH:mm:ss` in its zone. */
export function formatTime(screen: Screen | undefined, time: Date): string {
  return formatLocal(time, screenZone(screen));
}

/** As `formatTime`, to the minute, with the name of the zone: `2026-12-01 09:00 Pacific/Auckland`. */
export function formatMinute(screen: Screen | undefined, time: Date): string {
  return `${formatTime(screen, time).slice(0, 16)} ${screenZone(screen)}`;
}

/** The title of a column of times: `Since (Pacific/Auckland)`. */
export function titleWithZone(screen: Screen | undefined, title: string): string {
  return `${title} (${screenZone(screen)})`;
}

/** A text whose times in UTC, as `toISOString` writes them, are those of a screen; what it quotes stays as it is. */
export function localizeTimes(screen: Screen | undefined, text: string): string {
  return text.replaceAll(
    /(?<!")\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\b(?!")/g,
    (time) => `${formatTime(screen, new Date(time))} ${screenZone(screen)}`,
  );
}
