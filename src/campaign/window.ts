import { Temporal } from 'temporal-polyfill';
import { toInstant } from '../platform/zoned-times.ts';

/**
 * When a sending window is open: pure arithmetic over instants, days and time zones. `test/campaign/window.test.ts`
 * compares it minute by minute with a search, across changes of daylight saving time.
 */

export type WindowRule = {
  /** The days on which the window opens, from 1, Monday, to 7. */
  readonly days: readonly number[];
  /** Minute of the day. If `to` is before `from`, the window closes on the next day. */
  readonly from: number;
  /** The first minute at which it is closed again; 1440: midnight. */
  readonly to: number;
};

/** Whether a window is open, and when that changes; null: never. */
type WindowState = { readonly open: boolean; readonly until: Date | null };

const minutesOfDay = 1_440;

/** Days after which a window that has not changed never will: seasons repeat after a year. */
const farthestDays = 400;

const day = 86_400_000;

/**
 * With several zones, the window is open when it is open in each of them.
 *
 * @param zones IANA names, at least one
 */
export function isOpen(rule: WindowRule, zones: readonly string[], at: Date): boolean {
  return zones.every((zone) => isOpenIn(rule, zonedTime(at, zone)));
}

/**
 * Whether the window is open, and until when. Examines only the moments at which it can change: its opening and
 * closing times, and clock changes.
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

/** Whether it ever opens, in summer or in winter. */
export function everOpens(rule: WindowRule, zones: readonly string[]): boolean {
  return ['2026-01-12T00:00Z', '2026-07-13T00:00Z'].some((season) => {
    const { open, until } = stateAt(rule, zones, new Date(season), 14);
    return open || until !== null;
  });
}

/** The local time in the interface's format: `2026-12-01T09:00`. */
export function localTime(at: Date, zone: string): string {
  return zonedTime(at, zone).toPlainDateTime().toString({ smallestUnit: 'minute' });
}

/** The next occurrence of a time of day, `06:00`: `2026-12-01T06:00`. */
export function nextLocalTime(timeOfDay: string, zone: string, after: Date): string {
  const today = zonedTime(after, zone).toPlainDate();
  const on = (days: number): string => `${today.add({ days }).toString()}T${timeOfDay}`;
  return toInstant(on(0), zone) > after ? on(0) : on(1);
}

/** Whether a local time exists in a zone: clocks that go forward skip some. */
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

/**
 * One zone of each group with equal clocks between two moments. A country can have many zones, but few that still
 * differ.
 */
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

/** The next moment (epoch milliseconds) at which the window can change in a zone. */
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

/** A span without a clock change, by zone. */
const changes = new Map<string, { readonly from: number; readonly until: number }>();

/** When the clocks of a zone change next; infinity: never. */
function nextChange(zone: string, after: number): number {
  const known = changes.get(zone);
  if (known && known.from <= after && after < known.until) return known.until;
  const next = zonedTime(new Date(after), zone).getTimeZoneTransition('next');
  const until = next?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  changes.set(zone, { from: after, until });
  return until;
}

/** Both moments of a local time that occurs twice. */
function momentsOf(date: Temporal.PlainDate, minute: number, zone: string): number[] {
  const time = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 });
  return (['earlier', 'later'] as const).map(
    (disambiguation) => time.toZonedDateTime(zone, { disambiguation }).epochMilliseconds,
  );
}

function zonedTime(at: Date, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(zone);
}

export type WindowGate = {
  readonly isOpen: (now: Date) => boolean;
  /** When requests can be sent next; `now` if they can. */
  readonly opensAt: (now: Date) => Date;
};

/**
 * Milliseconds before the window closes in which nothing is sent: it could arrive too late, because connections
 * take time and clocks differ.
 */
const closingMargin = 5_000;

/** A fallback that should not occur: planning checked that the window opens. */
const farFuture = farthestDays * day;

/** @param sendAt the SendTime of requests handed over early; until then the window counts as open */
export function createWindowGate(
  rule: WindowRule,
  { zones, sendAt }: { readonly zones: readonly string[]; readonly sendAt: Date | null },
): WindowGate {
  let known: (WindowState & { readonly from: Date }) | undefined;
  const stateFor = (at: Date): WindowState => {
    if (!known || at < known.from || (known.until !== null && at >= known.until))
      known = { ...stateAt(rule, zones, at), from: at };
    return known;
  };
  const isOpen = (now: Date): boolean => {
    if (sendAt !== null && now < sendAt) return true;
    const { open, until } = stateFor(now);
    return open && (until === null || now.getTime() < until.getTime() - closingMargin);
  };
  return {
    isOpen,
    opensAt: (now) => {
      if (isOpen(now)) return now;
      const { open, until } = stateFor(now);
      if (!open) return until ?? new Date(now.getTime() + farFuture);
      // The window is open, but within the closing margin.
      const closesAt = until ?? now;
      return stateAt(rule, zones, closesAt).until ?? new Date(now.getTime() + farFuture);
    },
  };
}
