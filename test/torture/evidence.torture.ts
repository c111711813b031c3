import { expect, test } from 'vitest';
import { compareShares } from '../../src/decisions/evidence.ts';
import { drawEvents, type Random, seededRandom } from '../../src/platform/seeded-random.ts';
import { printTable } from '../bench/printing.ts';
import { type Ending, play, recipients, type World } from './watched-campaigns.ts';

const campaigns = Number(process.env['VOLLEY_CAMPAIGNS'] ?? 1_000);
const alpha = 0.01;
/** An error rate of 1 % is kept if at most this many of 1,000 campaigns show it: three standard deviations more. */
const mostErrors = 19;

const seeds = Array.from({ length: campaigns }, (_, index) => index + 1);

/** Seconds; the median, and a spread with long tails. */
const lognormal = (median: number, spread: number, random: Random): number =>
  median * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));

const healthy: World = {
  perSecond: 200,
  look: 1,
  undelivered: () => 0.015,
  delay: (_, random) => lognormal(5, 1, random),
};

/** Sent slowly, so that late reports come while the run is watched. */
const slow: World = { ...healthy, perSecond: 20, look: 10 };

const untilNext = (seconds: number, second: number): number => seconds - (second % seconds);

const orders: readonly (readonly [string, World])[] = [
  ['soon', healthy],
  ['late', { ...slow, delay: (_, random) => lognormal(600, 1, random) }],
  [
    'late if undelivered',
    { ...slow, delay: (outcome, random) => lognormal(outcome === 'undelivered' ? 1_200 : 5, 1, random) },
  ],
  ['early if undelivered', { ...slow, delay: (outcome) => (outcome === 'undelivered' ? 1 : 300) }],
  [
    'in bursts',
    {
      ...slow,
      delay: (outcome, _, second) => untilNext(300, second) + (outcome === 'undelivered' ? 0 : 150),
    },
  ],
];

function count(endings: readonly Ending[], kind: Ending['kind']): number {
  return endings.filter((each) => each.kind === kind).length;
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

test('healthy campaigns are stopped in at most 1 %, whenever and in whichever order reports come', () => {
  const rows = orders.map(([name, world]) => {
    const endings = seeds.map((seed) => play(world, seed, true));
    return { name, aborted: count(endings, 'canary aborted'), stopped: count(endings, 'guard stopped') };
  });
  printTable(
    `${campaigns} healthy campaigns of ${recipients} recipients, of which 1.5 % are undelivered`,
    ['reports come', 'aborted by the canary', 'stopped by the guard'],
    rows.map(({ name, aborted, stopped }) => [
      name,
      percent(aborted / campaigns),
      percent(stopped / campaigns),
    ]),
  );
  expect(rows.filter(({ aborted, stopped }) => aborted > mostErrors || stopped > mostErrors)).toEqual([]);
});

/** From 98 % to 60 %. */
const fall = (destination: number, from: number, world = healthy): World => ({
  ...world,
  undelivered: (at, sent) => (at === destination && sent >= from ? 0.39 : 0.015),
});

const begin = { withCanary: true, from: 0, mostShare: 0.02 };
/** Reports that have not come hide a part of the change, so it is found later, but soon after it is reported. */
const middle = { withCanary: true, from: 50_000, mostSeconds: 60 };

test.each<{
  readonly name: string;
  readonly world: World;
  readonly withCanary: boolean;
  readonly from: number;
  readonly mostShare?: number;
  readonly mostSeconds?: number;
}>([
  { name: 'at the largest destination', world: fall(0, 0), ...begin },
  { name: 'at the second destination', world: fall(1, 0), ...begin },
  { name: 'at the smallest destination', world: fall(4, 0), ...begin },
  { name: 'at the second destination, without a canary', world: fall(1, 0), ...begin, withCanary: false },
  { name: 'at the second destination, in the middle', world: fall(1, 50_000), ...middle },
  { name: 'at the smallest destination, in the middle', world: fall(4, 50_000), ...middle },
  {
    name: 'at the second destination, in the middle of a slow campaign',
    world: fall(1, 50_000, { ...slow, look: 1 }),
    ...middle,
    mostShare: 0.02,
    mostSeconds: 120,
  },
])(
  'a fall of delivery from 98 to 60 per cent is found: $name',
  ({ name, world, withCanary, from, ...most }) => {
    const endings = seeds.map((seed) => play(world, seed, withCanary));
    const found = endings.filter(({ kind }) => kind !== 'completed');
    const sent = found.map((each) => each.sent - from).toSorted((one, other) => one - other);
    const quantile = (share: number): number =>
      sent[Math.min(sent.length - 1, Math.floor(share * sent.length))] ?? Number.NaN;
    printTable(
      `${campaigns} campaigns of ${recipients} with a fall ${name}`,
      ['missed', 'too early', 'by the canary', 'sent since the fall: median', '99 %', 'most'],
      [
        [
          percent(1 - found.length / campaigns),
          percent(sent.filter((each) => each < 0).length / campaigns),
          percent(count(endings, 'canary aborted') / campaigns),
          ...[quantile(0.5), quantile(0.99), quantile(1)].map(
            (each) => `${each} (${percent(each / recipients)}, ${each / world.perSecond} s)`,
          ),
        ],
      ],
    );
    expect(found.length).toBeGreaterThanOrEqual(0.99 * campaigns);
    expect(quantile(0.01)).toBeGreaterThanOrEqual(0);
    expect(quantile(0.99) / recipients).toBeLessThanOrEqual(most.mostShare ?? 1);
    expect(quantile(0.99) / world.perSecond).toBeLessThanOrEqual(
      most.mostSeconds ?? Number.POSITIVE_INFINITY,
    );
  },
);

/** Names the better of two groups of so many recipients each, with a look after each twentieth part. */
function compared(
  shares: readonly [number, number],
  size: number,
  seed: number,
): 'right' | 'wrong' | 'undecided' {
  const random = seededRandom(seed);
  const looks = 20;
  let events: readonly [number, number] = [0, 0];
  for (let look = 1; look <= looks; look++) {
    events = [
      events[0] + drawEvents(random, size / looks, shares[0]),
      events[1] + drawEvents(random, size / looks, shares[1]),
    ];
    const trials = (size / looks) * look;
    const found = compareShares(
      [
        { events: events[0], trials },
        { events: events[1], trials },
      ],
      { alpha, minEvents: 20 },
    );
    if (found.kind === 'greater') return found.which === 1 ? 'right' : 'wrong';
  }
  return 'undecided';
}

test('of two groups whose shares differ by 20 %, the greater is named in at least 95 %, from a size on', () => {
  const cases = [
    { shares: [0.02, 0.024], sizes: [40_000, 60_000, 80_000, 100_000], enough: 100_000 },
    { shares: [0.1, 0.12], sizes: [8_000, 12_000, 16_000, 20_000], enough: 20_000 },
    { shares: [0.3, 0.36], sizes: [2_000, 4_000, 6_000, 8_000], enough: 8_000 },
    { shares: [0.4, 0.6], sizes: [200, 400, 600, 800], enough: 800 },
  ] as const;
  const rows = cases.flatMap(({ shares, sizes, enough }) =>
    sizes.map((size) => {
      const results = seeds.map((seed) => compared(shares, size, seed));
      const share = (result: (typeof results)[number]): number =>
        results.filter((each) => each === result).length / campaigns;
      return { shares, size, isEnough: size >= enough, right: share('right'), wrong: share('wrong') };
    }),
  );
  printTable(
    `${campaigns} comparisons of two groups`,
    ['shares', 'recipients of a group', 'right', 'wrong', 'undecided'],
    rows.map(({ shares: [one, other], size, right, wrong }) => [
      `${percent(one)}, ${percent(other)}`,
      String(size),
      percent(right),
      percent(wrong),
      percent(1 - right - wrong),
    ]),
  );
  expect(rows.filter(({ isEnough, right, wrong }) => (isEnough && right < 0.95) || wrong > alpha)).toEqual(
    [],
  );
});

test.each([0.02, 0.1, 0.5])(
  'of two groups with the same share of %d, one is named in at most 1 %%',
  (share) => {
    const named = seeds.filter((seed) => compared([share, share], 20_000, seed) !== 'undecided');
    console.log(`${named.length} of ${campaigns} comparisons of equal shares (${percent(share)}) name one`);
    expect(named.length).toBeLessThanOrEqual(mostErrors);
  },
);
