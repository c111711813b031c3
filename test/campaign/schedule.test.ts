import { describe, expect, test } from 'vitest';
import { nextTick, pastTimesWarning, schedule, ticksBetween } from '../../src/campaign/schedule.ts';

const ticks = (cron: string, timeZone: string, from: string, until: string): string[] =>
  ticksBetween({ cron, timeZone }, new Date(from), new Date(until), 100).map((tick) => tick.toISOString());

describe('a schedule when clocks go forward', () => {
  test.each([
    ['Pacific/Auckland', '2026-09-25T12:00Z', ['2026-09-25T14:30', '2026-09-26T14:00', '2026-09-27T13:30']],
    ['America/New_York', '2027-03-13T05:00Z', ['2027-03-13T07:30', '2027-03-14T07:00', '2027-03-15T06:30']],
  ])('in %s, a run at the skipped 2:30 starts once, at the moment of the change', (zone, from, expected) => {
    const until = new Date(new Date(from).getTime() + 3 * 86_400_000).toISOString();
    expect(ticks('30 2 * * *', zone, from, until)).toEqual(expected.map((time) => `${time}:00.000Z`));
  });

  test.each([
    ['15,45 2 * * *', ['2026-09-26T14:00']],
    ['30 1-3 * * *', ['2026-09-26T13:30', '2026-09-26T14:00', '2026-09-26T14:30']],
  ])('skipped times of "%s" count once, at the moment of the change', (cron, expected) => {
    expect(ticks(cron, 'Pacific/Auckland', '2026-09-26T12:00Z', '2026-09-26T20:00Z')).toEqual(
      expected.map((time) => `${time}:00.000Z`),
    );
  });

  test('a day that a zone skips counts at its change, and not a day later', () => {
    expect(ticks('0 9 30 12 *', 'Pacific/Apia', '2011-12-29T00:00Z', '2011-12-31T00:00Z')).toEqual([
      '2011-12-30T10:00:00.000Z',
    ]);
  });

  test('a run every half hour skips none and starts at no other moment', () => {
    const all = ticks('*/30 * * * *', 'Pacific/Auckland', '2026-09-26T13:00Z', '2026-09-26T15:00Z');
    expect(all).toEqual([
      '2026-09-26T13:30:00.000Z',
      '2026-09-26T14:00:00.000Z',
      '2026-09-26T14:30:00.000Z',
      '2026-09-26T15:00:00.000Z',
    ]);
  });
});

describe('a schedule when clocks go back', () => {
  test.each([
    ['Pacific/Auckland', '30 2 * * *', '2027-04-03T00:00Z', ['2027-04-03T13:30', '2027-04-04T14:30']],
    ['America/New_York', '30 1 * * *', '2026-11-01T04:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
  ])('in %s, a run at a time that occurs twice starts once, the first time', (zone, cron, from, expected) => {
    const until = new Date(new Date(from).getTime() + 2 * 86_400_000).toISOString();
    expect(ticks(cron, zone, from, until)).toEqual(expected.map((time) => `${time}:00.000Z`));
  });

  test('a run every hour starts in both hours', () => {
    const all = ticks('0 * * * *', 'America/New_York', '2026-11-01T04:30Z', '2026-11-01T07:30Z');
    expect(all).toHaveLength(3);
  });
});

describe('a schedule of single times', () => {
  const at = ['2026-12-24T09:00', '2026-09-27T02:30', '2026-12-01T09:00'];
  const times = { at, timeZone: 'Pacific/Auckland' };

  test('single times occur in order, each once, and one that clocks skip at the moment of the change', () => {
    expect(ticksBetween(times, new Date('2026-01-01T00:00Z'), new Date('2027-01-01T00:00Z'), 100)).toEqual(
      ['2026-09-26T14:00:00Z', '2026-11-30T20:00:00Z', '2026-12-23T20:00:00Z'].map((time) => new Date(time)),
    );
  });

  test('single times in the past never occur again', () => {
    expect(nextTick(times, new Date('2026-12-23T20:00:00Z'))).toBeUndefined();
  });
});

test('a schedule whose times are all past says so, and one with a next time does not', () => {
  const now = new Date('2026-11-27T00:00Z');
  const warningOf = (at: string[]) => pastTimesWarning({ at, timeZone: 'Pacific/Auckland' }, now);
  expect(warningOf(['2020-12-24T09:00'])).toBe(
    'its time, 2020-12-24 09:00 Pacific/Auckland, is past, so the schedule starts no run',
  );
  expect(warningOf(['2020-12-24T09:00', '2025-12-24T09:00', '2021-12-24T09:00'])).toBe(
    'all 3 times are past, the last one is 2025-12-24 09:00 Pacific/Auckland, so the schedule starts no run',
  );
  expect(warningOf(['2020-12-24T09:00', '2026-12-24T09:00'])).toBeUndefined();
  expect(pastTimesWarning({ cron: '30 2 * * *', timeZone: 'UTC' }, now)).toBeUndefined();
});

test('of very many missed times, the latest are returned', () => {
  const until = new Date('2026-11-21T00:00Z');
  const ticks = ticksBetween({ cron: '* * * * *', timeZone: 'UTC' }, new Date('2026-11-20T00:00Z'), until, 3);
  expect(ticks.map((tick) => tick.toISOString().slice(11, 16))).toEqual(['23:58', '23:59', '00:00']);
});

test.each([
  [{ cron: '30 2 * * *' }, /timeZone/],
  [{ cron: '30 2 * *', timeZone: 'UTC' }, /expected five fields/],
  [{ cron: '0 30 2 * * *', timeZone: 'UTC' }, /expected five fields/],
  [{ cron: '61 2 * * *', timeZone: 'UTC' }, /\\"61\\" is no minute; expected 0 to 59/],
  [{ cron: '0 25 * * *', timeZone: 'UTC' }, /\\"25\\" is no hour; expected 0 to 23/],
  [
    { cron: '0 7 * * MON-FRY', timeZone: 'UTC' },
    /\\"MON-FRY\\" is no day of the week; expected 0 to 7, or SUN to SAT, .* Did you mean \\"FRI\\"\?/,
  ],
  [{ cron: '0 0 30 2 *', timeZone: 'UTC' }, /this time never comes/],
  [{ cron: '0 2 * * *', at: ['2026-12-01T09:00'], timeZone: 'UTC' }, /expected either cron or at/],
  [{ timeZone: 'UTC' }, /expected either cron or at/],
  [{ at: ['2026-02-30T09:00'], timeZone: 'UTC' }, /there is no such day or time/],
  [{ at: ['tomorrow'], timeZone: 'UTC' }, /expected a local time such as/],
  [{ cron: '0 2 * * *', timeZone: 'Mars/Phobos' }, /expected a time zone such as/],
])('%j is refused with a plain error', (written, why) => {
  const { error } = schedule.safeParse(written);
  expect(JSON.stringify(error?.issues)).toMatch(why);
  expect(JSON.stringify(error?.issues)).not.toMatch(/CronPattern|Invalid/);
});

test('seven o’clock on weekdays is accepted', () => {
  expect(schedule.parse({ cron: '0 7 * * MON-FRI', timeZone: 'Europe/Vienna' })).toEqual({
    cron: '0 7 * * MON-FRI',
    timeZone: 'Europe/Vienna',
    catchUp: 0,
    overlap: 'skip',
  });
});
