import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Counts,
  compareShares,
  type Drift,
  driftThreshold,
  evidenceAbove,
  evidenceNeeded,
  lookForDrift,
  type OpenCounts,
} from '../../src/decisions/evidence.ts';
import { type Random, seededRandom } from '../../src/platform/seeded-random.ts';

const alpha = 0.01;
const empty: Counts = { events: 0, trials: 0 };
const seeds = Array.from({ length: 400 }, (_, index) => index + 1);

/** In how many of 400 an error of 1 % can be expected to happen, with a margin of three standard deviations. */
const expectedErrors = 10;

function happened(random: Random, share: number): number {
  return random() < share ? 1 : 0;
}

/** The trial after which the evidence suffices, looking after each; undefined if it never does. */
function trialsUntilAbove(limit: number, share: number, trials: number, seed: number): number | undefined {
  const random = seededRandom(seed);
  let events = 0;
  for (let trial = 1; trial <= trials; trial++) {
    events += happened(random, share);
    if (evidenceAbove(limit, { events, trials: trial }) >= evidenceNeeded(alpha)) return trial;
  }
  return undefined;
}

test.each([0.02, 0.1, 0.5])(
  'a share that is exactly the limit of %d is found above it in at most one of a hundred runs, with a look after each trial',
  (limit) => {
    const errors = seeds.filter((seed) => trialsUntilAbove(limit, limit, 1_000, seed) !== undefined);
    expect(errors.length).toBeLessThanOrEqual(expectedErrors);
  },
);

test('a fall of delivery from 98 % to 60 % is above a limit of 10 % after 100 recipients at most', () => {
  const found = seeds.map((seed) => trialsUntilAbove(0.1, 0.4, 1_000, seed) ?? Number.POSITIVE_INFINITY);
  expect(Math.max(...found)).toBeLessThanOrEqual(100);
});

test('evidence grows with each event, and shrinks with each trial that has none', () => {
  const share = fc.double({ min: 0, max: 0.99, noNaN: true });
  const number = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(share, number, number, (limit, events, others) => {
      const evidence = evidenceAbove(limit, { events, trials: events + others });
      expect(evidence).not.toBeNaN();
      expect(evidenceAbove(limit, { events: events + 1, trials: events + 1 + others })).toBeGreaterThan(
        evidence,
      );
      expect(evidenceAbove(limit, { events, trials: events + others + 1 })).toBeLessThan(evidence);
    }),
  );
});

test('one event proves that a share is above zero, and nothing proves that one is above 100 %', () => {
  expect(evidenceAbove(0, { events: 1, trials: 1_000 })).toBeGreaterThan(evidenceNeeded(alpha));
  expect(evidenceAbove(0, { events: 0, trials: 1_000 })).toBeLessThanOrEqual(0);
  expect(evidenceAbove(1, { events: 1_000, trials: 1_000 })).toBe(0);
});

const recipients = 10_000;
const rule = { limit: 0.05, threshold: driftThreshold(recipients, alpha) };

/** Recipients that were sent when a drift is found; undefined if it never is. */
function sentUntilDrift(counts: Iterable<OpenCounts>): number | undefined {
  let drift: Drift | undefined;
  for (const look of counts) {
    const found = lookForDrift(drift, look, rule);
    if (found.evidence >= rule.threshold) return look.trials;
    drift = found.drift;
  }
  return undefined;
}

/** After how many more recipients a report comes. */
type Delays = {
  readonly undelivered: (sent: number) => number;
  readonly delivered: (sent: number) => number;
};

/** A look after each 20 recipients. */
function* looks(seed: number, shareAt: (sent: number) => number, delays: Delays): Generator<OpenCounts> {
  const random = seededRandom(seed);
  const [arriving, reported] = [new Map<number, number>(), new Map<number, number>()];
  const later = (map: Map<number, number>, at: number) => map.set(at, (map.get(at) ?? 0) + 1);
  let [events, results] = [0, 0];
  for (let sent = 1; sent <= recipients; sent++) {
    if (happened(random, shareAt(sent)) === 1) later(arriving, sent + delays.undelivered(sent));
    else later(reported, sent + delays.delivered(sent));
    events += arriving.get(sent) ?? 0;
    results += reported.get(sent) ?? 0;
    if (sent % 20 === 0) yield { events, trials: sent, open: sent - events - results };
  }
}

const none = () => 0;
const untilBurst = (sent: number) => 500 - (sent % 500);
const atOnce: Delays = { undelivered: none, delivered: none };

test.each<[string, Delays]>([
  ['at once', atOnce],
  ['early for undelivered recipients', { undelivered: none, delivered: () => 400 }],
  ['late for undelivered recipients', { undelivered: () => 900, delivered: none }],
  ['in bursts', { undelivered: untilBurst, delivered: (sent) => 2 * untilBurst(sent) }],
])(
  'a run whose share stays at the limit is stopped in at most one of a hundred runs, with reports that come %s',
  (_, delays) => {
    const stopped = seeds
      .slice(0, 100)
      .filter((seed) => sentUntilDrift(looks(seed, () => rule.limit, delays)) !== undefined);
    expect(stopped.length).toBeLessThanOrEqual(3);
  },
);

test('a burst of reports about recipients sent to long before is no drift', () => {
  const before = lookForDrift(undefined, { events: 0, trials: 5_000, open: 100 }, rule);
  const burst = lookForDrift(before.drift, { events: 100, trials: 5_000, open: 0 }, rule);
  expect(burst.evidence).toBeLessThan(rule.threshold);
});

test('a fall from 98 % to 60 % in the middle of a run is found within 200 recipients', () => {
  const share = (sent: number) => (sent > 5_000 ? 0.4 : 0.02);
  const found = seeds.slice(0, 100).map((seed) => sentUntilDrift(looks(seed, share, atOnce)) ?? recipients);
  expect(Math.min(...found)).toBeGreaterThan(5_000);
  expect(Math.max(...found)).toBeLessThanOrEqual(5_200);
});

test('a drift is the same from its JSON, and says since when the share has been high', () => {
  const before = lookForDrift(undefined, { events: 10, trials: 1_000, open: 0 }, rule);
  const kept: Drift = JSON.parse(JSON.stringify(before.drift));
  expect(kept).toEqual(before.drift);
  const found = lookForDrift(kept, { events: 40, trials: 1_075, open: 0 }, rule);
  expect(found.evidence).toBeGreaterThan(rule.threshold);
  expect(found.since).toEqual({ events: 30, trials: 75 });
});

/** Looks after each 500 recipients of a group. */
function comparedAfter(
  shares: readonly [number, number],
  sizes: readonly [number, number],
  seed: number,
): string {
  const random = seededRandom(seed);
  const draw = (counts: Counts, size: number, share: number): Counts => ({
    events: counts.events + Array.from({ length: size }).filter(() => random() < share).length,
    trials: counts.trials + size,
  });
  let groups: readonly [Counts, Counts] = [empty, empty];
  for (let look = 1; look <= 40; look++) {
    groups = [draw(groups[0], sizes[0] / 40, shares[0]), draw(groups[1], sizes[1] / 40, shares[1])];
    const found = compareShares(groups, { alpha, minEvents: 20 });
    if (found.kind === 'greater') return `group ${found.which}`;
  }
  return 'undecided';
}

test.each([
  [0.1, [8_000, 8_000]],
  [0.02, [8_000, 2_000]],
] as const)(
  'of two groups with the same share of %d, one is named in at most one of a hundred runs',
  (share, sizes) => {
    const named = seeds
      .slice(0, 200)
      .filter((seed) => comparedAfter([share, share], sizes, seed) !== 'undecided');
    expect(named.length).toBeLessThanOrEqual(6);
  },
);

test('of replies of 10 % and 12 %, the greater share is named in at least 95 of 100 runs of 25,000 recipients each', () => {
  const right = seeds
    .slice(0, 100)
    .filter((seed) => comparedAfter([0.1, 0.12], [25_000, 25_000], seed) === 'group 1');
  expect(right.length).toBeGreaterThanOrEqual(95);
});

test('too few events decide nothing, and neither does a group that was not sent to', () => {
  const rules = { alpha, minEvents: 20 };
  expect(
    compareShares(
      [
        { events: 19, trials: 100 },
        { ...empty, trials: 100 },
      ],
      rules,
    ),
  ).toEqual({
    kind: 'too few events',
  });
  expect(compareShares([{ events: 20, trials: 100 }, empty], rules).kind).toBe('undecided');
  expect(
    compareShares(
      [
        { events: 20, trials: 100 },
        { ...empty, trials: 100 },
      ],
      rules,
    ),
  ).toMatchObject({
    kind: 'greater',
    which: 0,
  });
  expect(compareShares([empty, empty], { alpha, minEvents: 0 })).toEqual({ kind: 'too few events' });
});
