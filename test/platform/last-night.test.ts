import { expect, test } from 'vitest';
import { lastNight } from '../../src/platform/zoned-times.ts';

/** Of the zone, in UTC. */
const nightOf = (now: string, zone: string): string => {
  const { from, until } = lastNight(new Date(now), zone);
  return `${from.toISOString().slice(0, 16)} to ${until.toISOString().slice(0, 16)}`;
};

test.each([
  ['2026-11-27T08:00:00Z', 'in the morning'],
  ['2026-11-27T15:00:00Z', 'in the afternoon'],
  ['2026-11-27T23:59:59Z', 'late in the evening'],
  ['2026-11-27T00:00:00Z', 'from midnight on'],
])('the last night at %s, %s, is the same one', (now) => {
  expect(nightOf(now, 'UTC')).toBe('2026-11-26T18:00 to 2026-11-27T09:00');
});

test('the last night is that of the zone, also where the clocks change in it', () => {
  expect(nightOf('2026-11-27T20:00:00Z', 'Pacific/Auckland')).toBe('2026-11-27T05:00 to 2026-11-27T20:00');
  expect(nightOf('2026-09-27T00:00:00Z', 'Pacific/Auckland')).toBe('2026-09-26T06:00 to 2026-09-26T20:00');
});
