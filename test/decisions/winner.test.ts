import { describe, expect, test } from 'vitest';
import { decideWinner, type VariantCounts, type WinnerRule } from '../../src/decisions/winner.ts';
import { seededRandom } from '../../src/platform/seeded-random.ts';
import { seededIntegers } from '../support/seeded-integers.ts';

const hour = 3_600_000;
const rule: WinnerRule = { by: 'replied', observe: 4 * hour, otherwise: 'first' };

const variant = (number: number, counts: Partial<VariantCounts>): VariantCounts => ({
  variant: number,
  name: `text ${number}`,
  accepted: 1_000,
  undelivered: 0,
  replied: 0,
  optedOut: 0,
  ...counts,
});

/** Observed for so long, after the variants were sent in no time. */
const observedFor = (observedMs: number) => ({ observedMs, sendingMs: 0 });

describe('decideWinner', () => {
  test('the variant with clearly more replies wins at once', () => {
    const counts = [variant(1, { replied: 30 }), variant(2, { replied: 90 })];
    expect(decideWinner(rule, counts, observedFor(0))).toMatchObject({
      kind: 'winner',
      rest: { variant: 2 },
      record: { by: 'replied', alpha: 0.01, sends: 'text 2', variants: [{ events: 30 }, { events: 90 }] },
    });
  });

  test.each([
    ['delivered', { undelivered: 90 }, { undelivered: 20 }],
    ['optedOut', { optedOut: 90 }, { optedOut: 20 }],
  ] as const)('by %s, the variant with fewer failures wins', (by, worse, better) => {
    const counts = [variant(1, worse), variant(2, better)];
    expect(decideWinner({ ...rule, by }, counts, observedFor(0))).toMatchObject({
      kind: 'winner',
      rest: { variant: 2 },
    });
  });

  test('a small difference is observed until the time is over, then the first variant is sent', () => {
    const counts = [variant(1, { replied: 50 }), variant(2, { replied: 55 })];
    expect(decideWinner(rule, counts, observedFor(4 * hour - 1))).toBeUndefined();
    expect(decideWinner(rule, counts, observedFor(4 * hour))).toMatchObject({
      kind: 'no winner',
      rest: { variant: 1 },
      record: { sends: 'text 1', observedMs: 4 * hour },
    });
  });

  test('with `otherwise: ask`, a person decides', () => {
    const counts = [variant(1, {}), variant(2, {})];
    expect(decideWinner({ ...rule, otherwise: 'ask' }, counts, observedFor(4 * hour))).toMatchObject({
      kind: 'no winner',
      rest: { variant: null },
      record: { sends: null },
    });
  });

  test('variants that were sent one after the other are compared when that no longer makes a difference', () => {
    const counts = [variant(1, { replied: 30 }), variant(2, { replied: 90 })];
    const sendingMs = 60_000;
    expect(decideWinner(rule, counts, { observedMs: 599_999, sendingMs })).toBeUndefined();
    expect(decideWinner(rule, counts, { observedMs: 600_000, sendingMs })).toMatchObject({
      rest: { variant: 2 },
    });
    const whole = { observedMs: rule.observe, sendingMs: rule.observe };
    expect(decideWinner(rule, counts, whole)).toMatchObject({ rest: { variant: 2 } });
  });

  test('few events decide nothing, whatever they say', () => {
    const counts = [variant(1, { replied: 0 }), variant(2, { replied: 19 })];
    expect(decideWinner(rule, counts, observedFor(0))).toBeUndefined();
  });

  test('of several, a variant wins only if it is better than each other one', () => {
    const equal = [variant(1, { replied: 90 }), variant(2, { replied: 88 }), variant(3, { replied: 10 })];
    expect(decideWinner(rule, equal, observedFor(0))).toBeUndefined();
    const best = [variant(1, { replied: 30 }), variant(2, { replied: 120 }), variant(3, { replied: 10 })];
    expect(decideWinner(rule, best, observedFor(0))).toMatchObject({ kind: 'winner', rest: { variant: 2 } });
  });
});

describe('of 1,000 seeded campaigns of 20,000 recipients a variant, looked at twenty times', () => {
  /** Which variant wins, if each recipient replies with these probabilities (in thousandths). */
  function play(seed: number, rates: readonly [number, number]): number | undefined {
    const below = seededIntegers(seed * 7_919 + 1);
    for (let warm = 0; warm < 20; warm++) below(2);
    const accepted = 20_000;
    // How many of them reply is close to a normal distribution; they reply evenly over the looks.
    const totals = rates.map((rate) => {
      const share = rate / 1_000;
      const normal = Array.from({ length: 12 }, () => below(1_000_000) / 1_000_000).reduce(
        (sum, each) => sum + each,
        -6,
      );
      return Math.round(accepted * share + normal * Math.sqrt(accepted * share * (1 - share)));
    });
    const replied = [0, 0];
    const order = totals.flatMap((total, index) => Array.from({ length: total }, () => index));
    for (let last = order.length - 1; last > 0; last--) {
      const other = below(last + 1);
      const moved = order[last] ?? 0;
      order[last] = order[other] ?? 0;
      order[other] = moved;
    }
    for (let look = 1; look <= 20; look++) {
      for (const index of order.slice(((look - 1) * order.length) / 20, (look * order.length) / 20))
        replied[index] = (replied[index] ?? 0) + 1;
      const counts = replied.map((events, index) => variant(index + 1, { accepted, replied: events }));
      const found = decideWinner(rule, counts, observedFor(0));
      if (found?.kind === 'winner') return found.rest?.variant ?? undefined;
    }
    return undefined;
  }

  test('a variant of which a fifth more reply wins in at least 95 %, and the other one in at most 1 %', () => {
    const winners = Array.from({ length: 1_000 }, (_, seed) => play(seed, [100, 120]));
    expect(winners.filter((winner) => winner === 2).length).toBeGreaterThanOrEqual(950);
    expect(winners.filter((winner) => winner === 1).length).toBeLessThanOrEqual(10);
  });

  test('of equal variants, one wins in at most 1 %', () => {
    const winners = Array.from({ length: 1_000 }, (_, seed) => play(seed, [100, 100]));
    expect(winners.filter((winner) => winner !== undefined).length).toBeLessThanOrEqual(10);
  });
});

describe('of 100 seeded campaigns with equal variants of 10,000 recipients, sent one after the other', () => {
  const sendingMs = 200_000;

  /** A tenth of the recipients reply, half of them within this time. */
  function play(seed: number, halfMs: number): number | undefined {
    const random = seededRandom(seed);
    const replies = [0, 1].map((index) =>
      Array.from({ length: 10_000 }, (_, place) => ((index * 10_000 + place) * sendingMs) / 20_000)
        .filter(() => random() < 0.1)
        .map((sentAt) => sentAt + halfMs * 2 ** (4 * (random() + random() + random()) - 6)),
    );
    for (let observedMs = 0; observedMs < rule.observe; observedMs += 60_000) {
      const counts = replies.map((times, index) => {
        const replied = times.filter((time) => time <= sendingMs + observedMs).length;
        return variant(index + 1, { accepted: 10_000, replied });
      });
      const found = decideWinner(rule, counts, { observedMs, sendingMs });
      if (found?.kind === 'winner') return found.rest?.variant ?? undefined;
    }
    return undefined;
  }

  test.each([5_000, 300_000, 3_600_000])(
    'one wins in at most two, if half of the replies come within %d ms',
    (halfMs) => {
      const winners = Array.from({ length: 100 }, (_, seed) => play(seed + 1, halfMs));
      expect(winners.filter((winner) => winner !== undefined).length).toBeLessThanOrEqual(2);
    },
  );
});
