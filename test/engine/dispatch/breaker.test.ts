import { expect, test } from 'vitest';
import type { Breaker } from '../../../src/domain/breaker.ts';
import {
  closeBreaker,
  extendProbe,
  grantProbe,
  millisecondsUntilProbe,
  openBreaker,
  releaseProbe,
} from '../../../src/engine/dispatch/breaker.ts';

const lease = 60_000;
const refused = { reason: 'HTTP 503', requestedWait: undefined, probeId: undefined, random: 0.5 };
const open: Breaker = { openedAt: 0, retryAt: 250, refusals: 1, reason: 'HTTP 503', probe: null };
const probed = grantProbe(open, 'first', 250, lease);

test('a breaker that opens lets one request try after a wait, and another worker that finds the same changes nothing', () => {
  expect(openBreaker(undefined, refused, 0)).toEqual(open);
  expect(openBreaker(open, { ...refused, reason: 'HTTP 429' }, 100)).toBe(open);
});

test('each refusal of what tries makes the next wait longer, up to ten seconds, or as long as the service asks', () => {
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

test('one request tries at a time, until its lease is over', () => {
  expect(grantProbe(open, 'first', 100, lease)).toBe(open);
  expect(probed).toEqual({ ...open, probe: { id: 'first', expiresAt: 250 + lease } });
  expect(grantProbe(probed, 'second', 300, lease)).toBe(probed);
  expect(grantProbe(probed, 'second', 250 + lease, lease).probe?.id).toBe('second');
  expect(releaseProbe(probed, 'first')).toEqual(open);
  expect(closeBreaker(probed, 'first')).toBeUndefined();
});

test('the time to try begins anew before the claim, however often that is said', () => {
  const longer = extendProbe(probed, 'first', 5_000, lease);
  expect(longer).toEqual({ ...open, probe: { id: 'first', expiresAt: 5_000 + lease } });
  expect(extendProbe(longer, 'first', 5_000, lease)).toEqual(longer);
});

test('a request whose time to try was over changes nothing of the one that tries in its place', () => {
  const others = grantProbe(probed, 'second', 300 + lease, lease);
  expect(extendProbe(others, 'first', 400 + lease, lease)).toBe(others);
  expect(releaseProbe(others, 'first')).toBe(others);
  expect(closeBreaker(others, 'first')).toBe(others);
  expect(openBreaker(others, { ...refused, probeId: 'first' }, 400 + lease)).toBe(others);
});

test('the refusal of a request that tried opens nothing by itself once the service was found to answer', () => {
  expect(openBreaker(undefined, { ...refused, probeId: 'first' }, 400)).toBeUndefined();
});

test('a clock that was set back by a day makes nobody wait until it has caught up', () => {
  const day = 86_400_000;
  const until = (at: number): Breaker => ({ ...open, probe: { id: 'first', expiresAt: at } });
  // No wait and no lease is so long, so they were written by the clock as it was before.
  expect(millisecondsUntilProbe({ ...open, retryAt: day }, 0, lease)).toBe(0);
  expect(millisecondsUntilProbe(until(day), 1_000, lease)).toBe(0);
  expect(millisecondsUntilProbe({ ...open, retryAt: 70_000 }, 0, lease)).toBe(70_000);
  expect(millisecondsUntilProbe(until(1_000 + lease), 1_000, lease)).toBe(lease);
  // So does the time after which a run gives up.
  expect(
    openBreaker({ ...until(day), openedAt: day }, { ...refused, probeId: 'first' }, 1_000)?.openedAt,
  ).toBe(1_000);
});
