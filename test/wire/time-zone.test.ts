import { expect, test } from 'vitest';
import { timeZone } from '../../src/platform/scalars.ts';
import { isTimeZone, parseTimeZone, regionOf, windowsZone } from '../../src/wire/time-zone.ts';

test.each(['BST', 'IST', 'PST', 'ACT', '+09:00', 'Etc/Unknown', 'Middle Earth', '', '2026-12-01T09:00[UTC]'])(
  '"%s" is no time zone, though the runtime may take it for one',
  (text) => {
    expect([isTimeZone(text), regionOf(text), timeZone.safeParse(text).success]).toEqual([
      false,
      undefined,
      false,
    ]);
  },
);

test.each([
  ['pacific/auckland', 'Pacific/Auckland'],
  ['EUROPE/KYIV', 'Europe/Kyiv'],
  ['utc', 'UTC'],
  ['New Zealand', 'Pacific/Auckland'],
  ['New Zealand Standard Time', 'Pacific/Auckland'],
  ['GMT', 'Etc/GMT'],
  ['GMT Standard Time', 'Europe/London'],
])('a person who writes "%s" means %s', (written, region) => {
  expect(parseTimeZone(written)).toBe(region);
});

test('what the service calls GMT is London', () => {
  expect(regionOf('GMT')).toBe('Europe/London');
});

test('what a person calls GMT is told the service as UTC, whose clocks are never put forward', () => {
  expect(windowsZone(parseTimeZone('GMT') ?? '')).toBe('UTC');
});
