import { expect, test } from 'vitest';
import { timeZone } from '../../src/platform/scalars.ts';
import { isTimeZone, parseTimeZone, regionOf, windowsZone } from '../../src/wire/time-zone.ts';

test.each(['BST', 'IST', 'PST', 'ACT', '+09:00', 'Etc/Unknown', 'Middle Earth', '', '2026-12-01T09:00[UTC]'])(
  '"%s" is no time zone, although the runtime may accept it',
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
])('the user input "%s" means %s', (written, region) => {
  expect(parseTimeZone(written)).toBe(region);
});

test("the service's GMT is London", () => {
  expect(regionOf('GMT')).toBe('Europe/London');
});

test('GMT in user input is sent to the service as UTC, which has no daylight saving', () => {
  expect(windowsZone(parseTimeZone('GMT') ?? '')).toBe('UTC');
});
