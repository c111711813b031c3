import { expect, test } from 'vitest';
import type { Breaker } from '../../../src/domain/breaker.ts';
import {
  opened,
  untilProbe,
  withLongerProbe,
  withoutProbe,
  withProbe,
} from '../../../src/engine/dispatch/breaker.ts';

const lease = 60_000;
const refused = { reason: 'HTTP 503', asked: undefined, probe: false, random: 0.5 };
const open: Breaker = { openedAt: 0, retryAt: 250, tries: 1, reason: 'HTTP 503', probeUntil: null };

test('a breaker that opens lets one request try after a wait, and another worker that finds the same changes nothing', () => {
  expect(opened(undefined, refused, 0)).toEqual(open);
  expect(opened(open, { ...refused, reason: 'HTTP 429' }, 100)).toBe(open);
});

test('each refusal of what tries makes the next wait longer, up to ten seconds, or as long as the service asks', () => {
  let breaker = open;
  const waits = Array.from({ length: 8 }, () => {
    breaker = opened(breaker, { ...refused, probe: true }, 1_000);
    return breaker.retryAt - 1_000;
  });
  expect(waits).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000, 5_000]);
  expect(breaker).toMatchObject({ openedAt: 0, tries: 9 });
  expect(opened(open, { ...refused, probe: true, asked: 30_000, random: 0 }, 0).retryAt).toBe(30_000);
});

test('one worker tries at a time, until its lease is over', () => {
  expect(withProbe(open, 100, lease)).toBe(open);
  const probed = withProbe(open, 250, lease);
  expect(probed).toEqual({ ...open, probeUntil: 250 + lease });
  expect(withProbe(probed, 300, lease)).toBe(probed);
  expect(withProbe(probed, 250 + lease, lease)).not.toBe(probed);
  expect(withoutProbe(probed, 250 + lease)).toEqual(open);
});

test('the time to try begins anew before the claim, and is not taken from another worker', () => {
  const probed = withProbe(open, 250, lease);
  const longer = withLongerProbe(probed, 250 + lease, 5_000, lease);
  expect(longer).toEqual({ ...open, probeUntil: 5_000 + lease });
  // By another worker, which found the first one's time over.
  const others = withProbe(probed, 300 + lease, lease);
  expect(withLongerProbe(others, 250 + lease, 400 + lease, lease)).toBeUndefined();
  expect(withoutProbe(others, 250 + lease)).toBe(others);
});

test('a clock that was set back by a day makes nobody wait until it has caught up', () => {
  const day = 86_400_000;
  // No wait and no lease is so long, so they were written by the clock as it was before.
  expect(untilProbe({ ...open, retryAt: day }, 0, lease)).toBe(0);
  expect(untilProbe({ ...open, probeUntil: day }, 1_000, lease)).toBe(0);
  expect(untilProbe({ ...open, retryAt: 70_000 }, 0, lease)).toBe(70_000);
  expect(untilProbe({ ...open, probeUntil: 1_000 + lease }, 1_000, lease)).toBe(lease);
  // So does the time after which a run gives up.
  expect(opened({ ...open, openedAt: day }, { ...refused, probe: true }, 1_000).openedAt).toBe(1_000);
});
