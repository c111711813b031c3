import { describe, expect, test } from 'vitest';
import {
  type GuardCounts,
  type GuardSettings,
  type GuardState,
  lookAtGuard,
} from '../../src/decisions/guard.ts';
import { allowedShare, type Usual } from '../../src/decisions/undelivered.ts';
import { reportDelays, simulateGuard } from '../support/simulate-guard.ts';

const byUsual: GuardSettings = { undelivered: { usual: true }, first: 20, action: 'pause' };

const places = [
  { name: '+61412', part: 0.1 },
  { name: '+61413', part: 0.3 },
  { name: '+64211', part: 0.4 },
  { name: '', part: 0.2 },
];

/** In former runs, 2 % at each destination. */
const usual: Usual = {
  source: 'campaign',
  whole: { events: 2_000, trials: 100_000 },
  at: Object.fromEntries(places.map(({ name }) => [name, { events: 200, trials: 10_000 }])),
};

const campaign = {
  recipients: 20_000,
  destinations: places,
  settings: byUsual,
  usual,
  perLook: 100,
};

const seeds = Array.from({ length: 6 }, (_, index) => index + 1);

describe('undelivered recipients', () => {
  test.each(Object.entries(reportDelays))(
    'a run whose shares are usual goes on, with reports that come %s',
    (_, delays) => {
      const stopped = seeds.filter((seed) =>
        simulateGuard({ ...campaign, seed, delays, undelivered: () => 0.02 }),
      );
      expect(stopped).toEqual([]);
    },
  );

  test.each(Object.entries(reportDelays))(
    'a run goes on whose shares are somewhat higher than usual, with reports that come %s',
    (_, delays) => {
      const stopped = seeds.filter((seed) =>
        simulateGuard({ ...campaign, seed, delays, undelivered: () => 0.03 }),
      );
      expect(stopped).toEqual([]);
    },
  );

  test('a fall from 98 % to 60 % at one destination is found before 2 % of 100,000 recipients are sent', () => {
    const found = seeds.map((seed) =>
      simulateGuard({
        ...campaign,
        recipients: 100_000,
        seed,
        delays: { delivered: () => 0, undelivered: () => 0 },
        undelivered: (destination) => (destination === '+61412' ? 0.4 : 0.02),
      }),
    );
    for (const each of found) {
      expect(each?.sent).toBeLessThanOrEqual(2_000);
      expect(each?.finding.reason).toMatchObject({
        kind: 'guard_undelivered',
        destination: '+61412',
        basis: 'campaign',
        usual: 0.02,
      });
    }
  });

  test('a fall in the middle of a run is found before 2 % more of it are sent', () => {
    const found = seeds.map((seed) =>
      simulateGuard({
        ...campaign,
        recipients: 100_000,
        seed,
        delays: { delivered: () => 0, undelivered: () => 0 },
        undelivered: (destination, sent) => (destination === '+61412' && sent > 50_000 ? 0.4 : 0.02),
      }),
    );
    for (const each of found) {
      expect(each?.sent).toBeGreaterThan(50_000);
      expect(each?.sent).toBeLessThanOrEqual(52_000);
    }
  });

  test('a fall below a floor is found where nothing is known of former runs', () => {
    const found = simulateGuard({
      ...campaign,
      seed: 1,
      settings: { ...byUsual, undelivered: { above: 0.05, usual: true } },
      usual: undefined,
      delays: { delivered: () => 0, undelivered: () => 0 },
      undelivered: () => 0.2,
    });
    expect(found?.finding.reason).toMatchObject({ destination: null, basis: 'limit', limit: 0.05 });
    expect(found?.sent).toBeLessThanOrEqual(500);
  });

  test('without a floor, a canary and former runs, nothing is found', () => {
    const found = simulateGuard({
      ...campaign,
      seed: 1,
      usual: undefined,
      delays: { delivered: () => 0, undelivered: () => 0 },
      undelivered: () => 0.9,
    });
    expect(found).toBeUndefined();
  });
});

const counts: GuardCounts = {
  isResumed: false,
  planned: 10_000,
  lookMs: 1_000,
  settled: 0,
  rejected: 0,
  unknown: 0,
  accepted: 0,
  reported: 0,
  otherPrices: 0,
  destinations: [],
};

const at = (
  destination: string,
  [sent, delivered, undelivered]: readonly [number, number, number],
  isCanary = false,
) => ({ destination, isCanary, sent, delivered, undelivered });

test('a run is compared with its canary once the rest of it is sent', () => {
  const canary = at('+61412', [500, 490, 5], true);
  const before = lookAtGuard(byUsual, { ...counts, destinations: [canary] }, undefined, undefined);
  expect(before).toMatchObject({ finding: undefined, state: { undelivered: { drifts: {} } } });
  const look = (rest: Parameters<typeof at>[1], state: GuardState) =>
    lookAtGuard(byUsual, { ...counts, destinations: [canary, at('+61412', rest)] }, undefined, state);
  const { state } = look([10, 0, 0], before.state);
  const { finding } = look([200, 120, 80], state);
  expect(finding?.reason).toMatchObject({ kind: 'guard_undelivered', basis: 'canary', usual: 0.02 });
});

test('a resumed run is not stopped again by what stopped it, and is stopped by what comes after', () => {
  const bad = { ...counts, isResumed: true, destinations: [at('+61412', [1_000, 600, 400])] };
  const first = lookAtGuard(byUsual, bad, usual, undefined);
  expect(first.finding).toBeUndefined();
  const same = lookAtGuard(byUsual, bad, usual, first.state);
  expect(same.finding).toBeUndefined();
  const more = { ...bad, destinations: [at('+61412', [1_200, 720, 480])] };
  expect(lookAtGuard(byUsual, more, usual, same.state).finding?.reason).toMatchObject({
    destination: '+61412',
    recipients: 80,
    of: 200,
  });
});

test('the state of the guard is the same from its JSON', () => {
  const { state } = lookAtGuard(
    byUsual,
    { ...counts, destinations: [at('+61412', [1_000, 980, 20])] },
    usual,
    undefined,
  );
  expect(JSON.parse(JSON.stringify(state))).toEqual(JSON.parse(JSON.stringify({ ...state })));
  const bad = { ...counts, destinations: [at('+61412', [1_100, 1_040, 60])] };
  expect(lookAtGuard(byUsual, bad, usual, JSON.parse(JSON.stringify(state)))).toEqual(
    lookAtGuard(byUsual, bad, usual, state),
  );
});

describe('what is allowed', () => {
  test.each([
    ['half as much again as may be usual', { events: 1_000, trials: 10_000 }, 0.1637],
    ['at least two percentage points more', { events: 100, trials: 100_000 }, 0.0213],
  ])('is %s', (_, ofPlace, limit) => {
    const known = { ...usual, at: { '+61412': ofPlace } };
    expect(allowedShare({ usual: true }, '+61412', known)?.limit).toBeCloseTo(limit, 3);
  });

  test('is the lowest of the floor and what is usual', () => {
    expect(allowedShare({ usual: true, above: 0.01 }, '+61412', usual)).toMatchObject({
      basis: 'limit',
      limit: 0.01,
    });
    expect(allowedShare({ usual: true, above: 0.2 }, '+61412', usual)).toMatchObject({
      basis: 'campaign',
      usual: 0.02,
    });
  });

  test('is not known from few reports, nor for small destinations, which are others in each run', () => {
    const few = { ...usual, at: { '+61412': { events: 0, trials: 49 }, '': { events: 0, trials: 9_000 } } };
    expect(allowedShare({ usual: true }, '+61412', few)).toBeUndefined();
    expect(allowedShare({ usual: true }, '', few)).toBeUndefined();
    expect(allowedShare({ usual: true }, null, few)).toMatchObject({ usual: 0.02 });
  });
});

/** Looks one after the other, a second apart. @returns what the last one found */
function lookAfter(settings: GuardSettings, ...each: readonly Partial<GuardCounts>[]) {
  let state: GuardState | undefined;
  let finding: ReturnType<typeof lookAtGuard>['finding'];
  for (const changes of each)
    ({ finding, state } = lookAtGuard(settings, { ...counts, ...changes }, undefined, state));
  return finding;
}

describe('silence', () => {
  const silent: GuardSettings = { silence: 5_000, first: 20, action: 'pause' };
  const seconds = (number: number, changes: Partial<GuardCounts>) =>
    Array.from({ length: number }, () => changes);

  test('stops a run when reports stop, although requests are accepted', () => {
    const begun = [{}, { accepted: 100, reported: 50 }];
    expect(lookAfter(silent, ...begun, ...seconds(4, { accepted: 200, reported: 50 }))).toBeUndefined();
    expect(lookAfter(silent, ...begun, ...seconds(5, { accepted: 200, reported: 50 }))).toEqual({
      reason: { kind: 'guard_silent', milliseconds: 5_000, recipients: 100 },
      test: null,
    });
  });

  test('stops a run that never had a report', () => {
    expect(lookAfter(silent, {}, ...seconds(5, { accepted: 40 }))?.reason.kind).toBe('guard_silent');
  });

  test('does not stop a run that sends nothing, or that waits for a few last reports', () => {
    const last = { accepted: 100, reported: 85 };
    expect(lookAfter(silent, {}, last, ...seconds(60, { ...last, accepted: 119 }))).toBeUndefined();
  });

  test('begins anew with each report', () => {
    const trickle = Array.from({ length: 60 }, (_, index) => ({
      accepted: 100 * index,
      reported: Math.floor(index / 4),
    }));
    expect(lookAfter(silent, ...trickle)).toBeUndefined();
  });

  test('does not count a time without workers', () => {
    const away = { accepted: 200, reported: 50, lookMs: 0 };
    expect(lookAfter(silent, {}, { accepted: 100, reported: 50 }, ...seconds(60, away))).toBeUndefined();
  });
});

describe('shares', () => {
  const priced: GuardSettings = { price: 'rate card', first: 20, action: 'pause' };
  const sent = (recipients: number) => ({ destinations: [at('+61412', [recipients, 0, 0])] });

  test('prices that are far from the rate card stop a run when they are more than a few', () => {
    expect(lookAfter(priced, { ...sent(1_000), otherPrices: 3 })).toBeUndefined();
    expect(lookAfter(priced, { ...sent(1_000), otherPrices: 40 })?.reason).toEqual({
      kind: 'guard_price',
      recipients: 40,
      of: 1_000,
      limit: 0.01,
      errorRate: 0.01,
    });
  });

  test('rejected and unknown requests stop a run when they are significantly more than allowed', () => {
    const limited: GuardSettings = { rejected: 0.02, unknown: 0.02, first: 20, action: 'pause' };
    expect(lookAfter(limited, { settled: 1_000, rejected: 25, unknown: 25 })).toBeUndefined();
    expect(lookAfter(limited, { settled: 19, rejected: 19 })).toBeUndefined();
    expect(lookAfter(limited, { settled: 1_000, rejected: 60 })?.reason.kind).toBe('guard_rejected');
    expect(lookAfter(limited, { settled: 1_000, unknown: 60 })).toMatchObject({
      reason: { kind: 'guard_unknown', requests: 60, of: 1_000, limit: 0.02 },
      test: { name: 'mixture of likelihood ratios', errorRate: 0.01 },
    });
  });

  test('a warning is found once, and another one beside it', () => {
    const warn: GuardSettings = { rejected: 0.02, unknown: 0.02, first: 20, action: 'warn' };
    const rejected = { settled: 1_000, rejected: 60 };
    expect(lookAfter(warn, rejected)?.reason.kind).toBe('guard_rejected');
    expect(lookAfter(warn, rejected, rejected)).toBeUndefined();
    expect(lookAfter(warn, rejected, { ...rejected, unknown: 60 })?.reason.kind).toBe('guard_unknown');
  });
});
