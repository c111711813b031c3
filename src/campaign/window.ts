import { Temporal } from 'temporal-polyfill';
import { toInstant } from '../platform/zoned-times.ts';

/**
 * When a sending window is open: pure arithmetic over instants, days and time zones. `test/campaign/window.test.ts` holds it
 * against a search minute by minute, over the changes of daylight saving time.
 */

/** On which days, and between which local times, requests may be sent. */
export type WindowRule = {
  /** From 1, Monday, to 7; the days on which the window opens. */
  readonly days: readonly number[];
  /** Minutes of the day. Where `to` is before `from`, the window shuts on the day after. */
  readonly from: number;
  /** The first minute at which it is shut again; 1440: midnight. */
  readonly to: number;
};

/** Whether a window is open at a moment, and when that ends; null: not as far as anybody looks. */
export type WindowState = { readonly open: boolean; readonly until: Date | null };

const minutesOfDay = 1_440;

/** A window that stays as it is for so many days stays so for good: summer comes again after a year. */
const farthestDays = 400;

const day = 86_400_000;

/**
 * The window of recipients of whom it is only known that they are in one of several zones is open when it is in each of them.
 *
 * @param zones names of the IANA database, at least one
 */
export function isOpen(rule: WindowRule, zones: readonly string[], at: Date): boolean {
  return zones.every((zone) => isOpenIn(rule, zonedTime(at, zone)));
}

/**
 * Whether it is open, and until when. Between the moments that are looked at nothing changes: the local times at which the
 * window opens and shuts, and those at which the clocks are changed.
 */
export function stateAt(
  rule: WindowRule,
  zones: readonly string[],
  at: Date,
  days: number = farthestDays,
): WindowState {
  if (rule.days.length === 7 && rule.from === 0 && rule.to === minutesOfDay)
    return { open: true, until: null };
  const farthest = at.getTime() + days * day;
  const clocks = distinctZones(zones, at.getTime(), farthest);
  const open = isOpen(rule, clocks, at);
  for (let moment = at.getTime(); moment <= farthest; ) {
    moment = Math.min(...clocks.map((zone) => nextMoment(rule, zone, moment)));
    const then = new Date(moment);
    if (isOpen(rule, clocks, then) !== open) return { open, until: then };
  }
  return { open, until: null };
}

/** Whether it opens at all, in summer or in winter. */
export function everOpens(rule: WindowRule, zones: readonly string[]): boolean {
  return ['2026-01-12T00:00Z', '2026-07-13T00:00Z'].some((season) => {
    const { open, until } = stateAt(rule, zones, new Date(season), 14);
    return open || until !== null;
  });
}

/** The first moment, not before this one, at which it is open; null: never. */
export function opensAt(rule: WindowRule, zones: readonly string[], at: Date): Date | null {
  const { open, until } = stateAt(rule, zones, at);
  return open ? at : until;
}

/** The local time of a moment, as the interface writes it: `2026-12-01T09:00`. */
export function localTime(at: Date, zone: string): string {
  return zonedTime(at, zone).toPlainDateTime().toString({ smallestUnit: 'minute' });
}

/** The first local time after a moment that is this time of day, `06:00`: `2026-12-01T06:00`. */
export function nextLocalTime(timeOfDay: string, zone: string, after: Date): string {
  const today = zonedTime(after, zone).toPlainDate();
  const on = (days: number): string => `${today.add({ days }).toString()}T${timeOfDay}`;
  return toInstant(on(0), zone) > after ? on(0) : on(1);
}

/** Whether the clocks of a zone ever show a local time: they leave some out when they are put forward. */
export function isLocalTime(local: string, zone: string): boolean {
  const time = Temporal.PlainDateTime.from(local);
  return time.toZonedDateTime(zone).toPlainDateTime().equals(time);
}

function isOpenIn({ days, from, to }: WindowRule, time: Temporal.ZonedDateTime): boolean {
  const minute = time.hour * 60 + time.minute;
  if (from < to) return days.includes(time.dayOfWeek) && minute >= from && minute < to;
  const yesterday = time.dayOfWeek === 1 ? 7 : time.dayOfWeek - 1;
  return (days.includes(time.dayOfWeek) && minute >= from) || (days.includes(yesterday) && minute < to);
}

/** Of zones whose clocks show the same between two moments, one. A country may have many, and few that differ by now. */
function distinctZones(zones: readonly string[], from: number, until: number): readonly string[] {
  if (zones.length < 2) return zones;
  const byClock = new Map<string, string>();
  for (const zone of zones) {
    const clock: number[] = [];
    for (let moment = from; moment < until; moment = nextChange(zone, moment))
      clock.push(moment, zonedTime(new Date(moment), zone).offsetNanoseconds);
    byClock.set(clock.join(), zone);
  }
  return [...byClock.values()];
}

/** The next moment (epoch milliseconds) at which the window may change in a zone. */
function nextMoment({ from, to }: WindowRule, zone: string, after: number): number {
  const today = zonedTime(new Date(after), zone).toPlainDate();
  const moments = [
    ...momentsOf(today, from, zone),
    ...momentsOf(today, to % minutesOfDay, zone),
    ...momentsOf(today.add({ days: 1 }), 0, zone),
    nextChange(zone, after),
  ];
  return Math.min(...moments.filter((moment) => moment > after));
}

/** By the zone: nothing changes between two moments. */
const changes = new Map<string, { readonly from: number; readonly until: number }>();

/** When the clocks of a zone are changed next; infinity: never. */
function nextChange(zone: string, after: number): number {
  const known = changes.get(zone);
  if (known && known.from <= after && after < known.until) return known.until;
  const next = zonedTime(new Date(after), zone).getTimeZoneTransition('next');
  const until = next?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  changes.set(zone, { from: after, until });
  return until;
}

/** Both, of a local time that comes twice. */
function momentsOf(date: Temporal.PlainDate, minute: number, zone: string): number[] {
  const time = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 });
  return (['earlier', 'later'] as const).map(
    (disambiguation) => time.toZonedDateTime(zone, { disambiguation }).epochMilliseconds,
  );
}

function zonedTime(at: Date, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
}
