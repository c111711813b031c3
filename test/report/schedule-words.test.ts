import { expect, test } from 'vitest';
import { scheduleWords } from '../../src/report/schedule-words.ts';

test.each([
  ['0 18 * * MON-FRI', 'Every weekday at 18:00 Auckland time'],
  ['0 18 * * 1-5', 'Every weekday at 18:00 Auckland time'],
  ['30 2 * * *', 'Every day at 02:30 Auckland time'],
  ['0 9,18 * * *', 'Every day at 09:00 and 18:00 Auckland time'],
  ['0 2 * * 1', 'At 02:00, only on Monday, Auckland time'],
  ['0 8 L * *', 'At 08:00, on the last day of the month, Auckland time'],
  ['0 8 * * FRI#1', 'At 08:00, on the first Friday of the month, Auckland time'],
  ['*/15 9-17 * * MON-FRI', 'Every 15 minutes, between 09:00 and 17:59, every weekday, Auckland time'],
])('the cron "%s" is: %s', (cron, words) => {
  expect(scheduleWords({ cron, timeZone: 'Pacific/Auckland' })).toBe(words);
});

test('a cron that only croner knows stays as it is written', () => {
  expect(scheduleWords({ cron: '0 8 1-7 * +MON', timeZone: 'UTC' })).toBe('0 8 1-7 * +MON, UTC');
});

test('single times are listed, the first three of many', () => {
  const at = ['2026-12-01T09:00', '2026-12-24T09:00', '2026-12-31T09:00', '2027-01-01T09:00'];
  const timeZone = 'America/New_York';
  expect(scheduleWords({ at: at.slice(0, 2), timeZone })).toBe(
    '2026-12-01 09:00 and 2026-12-24 09:00 New York time',
  );
  expect(scheduleWords({ at, timeZone })).toBe(
    '2026-12-01 09:00, 2026-12-24 09:00, 2026-12-31 09:00 and 1 more, New York time',
  );
});

test.each(['UTC', 'Etc/GMT-12', 'CET'])('the zone %s has no city', (timeZone) => {
  expect(scheduleWords({ cron: '30 2 * * *', timeZone })).toBe(`Every day at 02:30 ${timeZone}`);
});
