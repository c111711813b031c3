import { expect, test } from 'vitest';
import type { Breaker } from '../../../src/domain/breaker.ts';
import {
  grantProbe,
  millisecondsUntilProbe,
  openBreaker,
} from '../../../src/engine/dispatch/account-breaker.ts';

const lease = 60_000;
const refused = { reason: 'HTTP 503', requestedWait: undefined, probeId: undefined, random: 0.5 };
const open: Breaker = { openedAt: 0, retryAt: 250, refusals: 1, reason: 'HTTP 503', probe: null };
const probed = grantProbe(open, 'first', 250, lease);

test('a breaker opens once, whatever other workers find', () => {
  expect(openBreaker(undefined, refused, 0)).toEqual(open);
  expect(openBreaker(open, { ...refused, reason: 'HTTP 429' }, 100)).toBe(open);
});

test('each refused probe makes the next wait longer, up to ten seconds or what the service asks for', () => {
  let breaker = open;
  const waits = Array.from({ length: 8 }, () => {
    const tried = grantProbe(breaker, 'first', 20_000, lease);
    breaker = openBreaker(tried, { ...refused, probeId: 'first' }, 1_000) ?? breaker;
    return breaker.retryAt - 1_000;
  });
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
  expect(breaker).toMatchObject({ openedAt: 0, refusals: 9, probe: null });
  const asked = openBreaker(probed, { ...refused, probeId: 'first', requestedWait: 30_000, random: 0 }, 0);
  expect(asked?.retryAt).toBe(30_000);
});

test('only one request probes at a time, until its lease expires', () => {
  expect(grantProbe(open, 'first', 100, lease)).toBe(open);
  expect(probed).toEqual({ ...open, probe: { id: 'first', expiresAt: 250 + lease } });
  expect(grantProbe(probed, 'second', 300, lease)).toBe(probed);
  expect(grantProbe(probed, 'second', 250 + lease, lease).probe?.id).toBe('second');
});

test('an expired probe does not change the next probe', () => {
  const others = grantProbe(probed, 'second', 300 + lease, lease);
  expect(openBreaker(others, { ...refused, probeId: 'first' }, 400 + lease)).toBe(others);
});

test('a refused probe does not open a breaker that was closed meanwhile', () => {
  expect(openBreaker(undefined, { ...refused, probeId: 'first' }, 400)).toBeUndefined();
});

test('a clock that is set back by a day does not lengthen a wait', () => {
  const day = 86_400_000;
  const until = (at: number): Breaker => ({ ...open, probe: { id: 'first', expiresAt: at } });
  // No wait or lease is so long: these times are from before the change of the clock.
  expect(millisecondsUntilProbe({ ...open, retryAt: day }, 0, lease)).toBe(0);
  expect(millisecondsUntilProbe(until(day), 1_000, lease)).toBe(0);
  expect(millisecondsUntilProbe({ ...open, retryAt: 70_000 }, 0, lease)).toBe(70_000);
  expect(millisecondsUntilProbe(until(1_000 + lease), 1_000, lease)).toBe(lease);
  expect(
    openBreaker({ ...until(day), openedAt: day }, { ...refused, probeId: 'first' }, 1_000)?.openedAt,
  ).toBe(1_000);
});
