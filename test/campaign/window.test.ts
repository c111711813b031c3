import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isLocalTime,
  isOpen,
  localTime,
  nextLocalTime,
  stateAt,
  type WindowRule,
} from '../../src/campaign/window.ts';
import { toInstant } from '../../src/platform/zoned-times.ts';

const weekdays = [1, 2, 3, 4, 5];
const office: WindowRule = { days: weekdays, from: 9 * 60, to: 20 * 60 };
const auckland = ['Pacific/Auckland'];

/** A local clock that does not use Temporal. */
function clockOf(zone: string): (at: number) => { readonly day: number; readonly minute: number } {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const names = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
  return (at) => {
    const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
    const day = names.indexOf(parts['weekday'] ?? '') + 1;
    return { day, minute: Number(parts['hour']) * 60 + Number(parts['minute']) };
  };
}

function naivelyOpen(
  { days, from, to }: WindowRule,
  { day, minute }: { day: number; minute: number },
): boolean {
  if (from < to) return days.includes(day) && from <= minute && minute < to;
  const before = ((day + 5) % 7) + 1;
  return (days.includes(day) && minute >= from) || (days.includes(before) && minute < to);
}

const minute = 60_000;

describe('stateAt and isOpen, minute by minute, across changes of daylight saving time', () => {
  const changes = [
    ['Pacific/Auckland', '2026-09-26T14:00Z'],
    ['Pacific/Auckland', '2027-04-03T14:00Z'],
    ['America/New_York', '2027-03-14T07:00Z'],
    ['America/New_York', '2026-11-01T06:00Z'],
  ] as const;
  const rules = fc
    .record({
      days: fc.subarray([1, 2, 3, 4, 5, 6, 7], { minLength: 1 }),
      // Many of them at clock changes.
      from: fc.oneof(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 50, max: 190 })),
      to: fc.oneof(fc.integer({ min: 0, max: 1_440 }), fc.integer({ min: 50, max: 190 })),
    })
    .filter(({ from, to }) => from !== to);

  test.each(changes)(
    'in %s, %s: the window is open by the local clock, and changes when that does',
    (zone, change) => {
      const begin = Date.parse(change) - 36 * 3_600_000;
      const clock = clockOf(zone);
      const minutes = Array.from({ length: 72 * 60 }, (_, index) => clock(begin + index * minute));
      fc.assert(
        fc.property(rules, (rule) => {
          const open = minutes.map((time) => naivelyOpen(rule, time));
          for (let offset = 0; offset < minutes.length; ) {
            const at = new Date(begin + offset * minute);
            const state = stateAt(rule, [zone], at);
            expect(state.open).toBe(open[offset]);
            const next = open.findIndex((other, index) => index > offset && other !== open[offset]);
            if (next === -1) break;
            expect(state.until).toEqual(new Date(begin + next * minute));
            offset = next;
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test('with several zones, the window is open while it is open in each', () => {
    const zones = ['Pacific/Auckland', 'Australia/Perth'];
    const clocks = zones.map(clockOf);
    const begin = Date.parse('2026-09-25T00:00Z');
    fc.assert(
      fc.property(rules, fc.integer({ min: 0, max: 5 * 1_440 }), (rule, offset) => {
        const at = begin + offset * minute;
        expect(isOpen(rule, zones, new Date(at))).toBe(clocks.every((clock) => naivelyOpen(rule, clock(at))));
      }),
    );
  });
});

test('the night between Friday and Saturday belongs to Friday', () => {
  const night: WindowRule = { days: [5], from: 20 * 60, to: 6 * 60 };
  expect(stateAt(night, auckland, new Date('2026-11-20T07:00Z'))).toEqual({
    open: true,
    until: new Date('2026-11-20T17:00Z'),
  });
  expect(stateAt(night, auckland, new Date('2026-11-20T17:00Z'))).toEqual({
    open: false,
    until: new Date('2026-11-27T07:00Z'),
  });
});

test('a window that closes on Friday evening opens on Monday', () => {
  expect(stateAt(office, auckland, new Date('2026-11-20T07:00Z'))).toEqual({
    open: false,
    until: new Date('2026-11-22T20:00Z'),
  });
});

test('an opening time that the clocks skip is the moment of the change', () => {
  const early: WindowRule = { days: [7], from: 150, to: 240 };
  expect(stateAt(early, auckland, new Date('2026-09-26T00:00Z'))).toEqual({
    open: false,
    until: new Date('2026-09-26T14:00Z'),
  });
});

test('a window in an hour that occurs twice is open twice, and closed in between if it is shorter', () => {
  const short: WindowRule = { days: [7], from: 120, to: 150 };
  const first = stateAt(short, auckland, new Date('2027-04-03T13:00Z'));
  expect(first).toEqual({ open: true, until: new Date('2027-04-03T13:30Z') });
  expect(stateAt(short, auckland, new Date('2027-04-03T13:30Z'))).toEqual({
    open: false,
    until: new Date('2027-04-03T14:00Z'),
  });
});

test('a window of all days around the clock never closes, and zones without a shared hour never open', () => {
  const always: WindowRule = { days: [1, 2, 3, 4, 5, 6, 7], from: 0, to: 1_440 };
  expect(stateAt(always, auckland, new Date(0))).toEqual({ open: true, until: null });
  const hour: WindowRule = { ...office, to: 10 * 60 };
  expect(stateAt(hour, ['Pacific/Auckland', 'Europe/London'], new Date(0))).toEqual({
    open: false,
    until: null,
  });
});

test('local times round-trip, and those that do not exist are known', () => {
  expect(localTime(new Date('2026-11-30T20:00:30Z'), 'Pacific/Auckland')).toBe('2026-12-01T09:00');
  expect(toInstant('2026-12-01T09:00', 'Pacific/Auckland')).toEqual(new Date('2026-11-30T20:00Z'));
  expect(isLocalTime('2026-09-27T02:30', 'Pacific/Auckland')).toBe(false);
  expect(isLocalTime('2027-04-04T02:30:15', 'Pacific/Auckland')).toBe(true);
});

test.each([
  ['06:00', '2026-11-30T16:59Z', '2026-12-01T06:00'],
  ['06:00', '2026-11-30T17:00Z', '2026-12-02T06:00'],
  ['23:30', '2026-12-31T10:29Z', '2026-12-31T23:30'],
  ['00:00', '2026-12-31T10:29Z', '2027-01-01T00:00'],
])('%s in Auckland comes next after %s at %s', (timeOfDay, after, expected) => {
  expect(nextLocalTime(timeOfDay, 'Pacific/Auckland', new Date(after))).toBe(expected);
});
