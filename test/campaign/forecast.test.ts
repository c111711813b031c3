import { expect, test } from 'vitest';
import { type ForecastPortion, forecast } from '../../src/campaign/forecast.ts';
import type { WindowRule } from '../../src/campaign/window.ts';

const noLimits = { requestsPerSecond: null, recipientsPerSecond: null };
const office: WindowRule = { days: [1, 2, 3, 4, 5], from: 540, to: 1_020 };

const portion = (recipients: number, changes: Partial<ForecastPortion> = {}): ForecastPortion => ({
  zones: [],
  requests: recipients,
  recipients,
  sendAt: null,
  ...changes,
});

/** Forecasts from a moment, at a rate of requests per second. */
function play(
  portions: readonly ForecastPortion[],
  from: string,
  requestsPerSecond: number | null,
  deadline?: string,
) {
  const times = { from: new Date(from), deadline: deadline === undefined ? undefined : new Date(deadline) };
  const found = forecast(portions, office, { ...noLimits, requestsPerSecond }, times);
  return found && { endsAt: found.endsAt.toISOString().slice(0, 16), late: found.late };
}

test('a run without a window takes as long as its rate requires', () => {
  expect(play([portion(7_200)], '2026-11-20T00:00Z', 2)).toEqual({ endsAt: '2026-11-20T01:00', late: [0] });
});

test('the slower of both rates applies', () => {
  const limits = { requestsPerSecond: 1, recipientsPerSecond: 10 };
  const from = new Date('2026-11-20T00:00Z');
  const each = forecast([portion(36_000, { requests: 360 })], undefined, limits, {
    from,
    deadline: undefined,
  });
  expect(each?.endsAt).toEqual(new Date('2026-11-20T01:00Z'));
});

test('requests that do not fit into a window are sent in the next one', () => {
  // Ten hours of work: eight on Friday, two on Monday.
  const berlin = portion(36_000, { zones: ['Europe/Berlin'] });
  expect(play([berlin], '2026-11-20T00:00Z', 1)).toEqual({ endsAt: '2026-11-23T10:00', late: [0] });
});

test('of several open windows, the one that closes first is sent first', () => {
  const portions = [
    portion(3_600, { zones: ['Europe/London'] }),
    portion(7_200, { zones: ['Europe/Berlin'] }),
  ];
  // Both are open; Berlin closes at 16:00Z, and London an hour later.
  expect(play(portions, '2026-11-20T13:00Z', 1, '2026-11-20T15:30Z')).toEqual({
    endsAt: '2026-11-20T16:00',
    late: [1_800, 0],
  });
});

test('without a rate, everything is sent when its window opens', () => {
  const portions = [portion(5, { zones: ['Pacific/Auckland'] }), portion(7, { zones: ['Europe/Berlin'] })];
  expect(play(portions, '2026-11-20T18:00Z', null, '2026-11-22T21:00Z')).toEqual({
    endsAt: '2026-11-23T08:00',
    late: [0, 7],
  });
});

test('requests held by the service are handed over at once and sent at their SendTime', () => {
  const sendAt = new Date('2026-11-23T08:00Z');
  const held = portion(3_600, { zones: ['Europe/Berlin'], sendAt });
  expect(play([held], '2026-11-20T18:00Z', 1, '2026-11-23T07:59Z')).toEqual({
    endsAt: '2026-11-23T08:00',
    late: [3_600],
  });
  expect(play([held], '2026-11-20T18:00Z', 1, '2026-11-23T08:00Z')).toMatchObject({ late: [0] });
});

test('a recipient sent to exactly at the deadline is in time', () => {
  expect(play([portion(100)], '2026-11-20T00:00Z', 1, '2026-11-20T00:01:40Z')).toMatchObject({ late: [0] });
  expect(play([portion(100)], '2026-11-20T00:00Z', 1, '2026-11-20T00:01:00Z')).toMatchObject({ late: [40] });
  expect(play([portion(100)], '2026-11-20T00:00Z', null, '2026-11-19T23:59Z')).toMatchObject({ late: [100] });
});

test('a window that never opens has no forecast', () => {
  const zones = ['Pacific/Auckland', 'Europe/London'];
  const hour: WindowRule = { ...office, to: 600 };
  const times = { from: new Date(0), deadline: undefined };
  expect(forecast([portion(1, { zones })], hour, noLimits, times)).toBeUndefined();
});
