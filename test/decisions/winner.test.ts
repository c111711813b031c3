import { describe, expect, test } from 'vitest';
import { decideWinner, type VariantCounts, type WinnerRule } from '../../src/decisions/winner.ts';

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

describe('decideWinner', () => {
  test('the variant with clearly more replies wins at once', () => {
    const counts = [variant(1, { replied: 30 }), variant(2, { replied: 90 })];
    expect(decideWinner(rule, counts, 0)).toMatchObject({
      kind: 'winner',
      variant: 2,
      record: { by: 'replied', alpha: 0.01, sends: 'text 2', variants: [{ events: 30 }, { events: 90 }] },
    });
  });

  test.each([
    ['delivered', { undelivered: 90 }, { undelivered: 20 }],
    ['optedOut', { optedOut: 90 }, { optedOut: 20 }],
  ] as const)('by %s, the variant with fewer failures wins', (by, worse, better) => {
    const counts = [variant(1, worse), variant(2, better)];
    expect(decideWinner({ ...rule, by }, counts, 0)).toMatchObject({ kind: 'winner', variant: 2 });
  });

  test('a small difference is observed until the time is over, then the first variant is sent', () => {
    const counts = [variant(1, { replied: 50 }), variant(2, { replied: 55 })];
    expect(decideWinner(rule, counts, 4 * hour - 1)).toEqual({ kind: 'open' });
    expect(decideWinner(rule, counts, 4 * hour)).toMatchObject({
      kind: 'no winner',
      variant: 1,
      record: { sends: 'text 1', observedMs: 4 * hour },
    });
  });

  test('with `otherwise: ask`, a person decides', () => {
    const counts = [variant(1, {}), variant(2, {})];
    expect(decideWinner({ ...rule, otherwise: 'ask' }, counts, 4 * hour)).toMatchObject({
      kind: 'no winner',
      variant: null,
      record: { sends: null },
    });
  });

  test('few events decide nothing, whatever they say', () => {
    const counts = [variant(1, { replied: 0 }), variant(2, { replied: 19 })];
    expect(decideWinner(rule, counts, 0)).toEqual({ kind: 'open' });
  });

  test('of several, a variant wins only if it is better than each other one', () => {
    const equal = [variant(1, { replied: 90 }), variant(2, { replied: 88 }), variant(3, { replied: 10 })];
    expect(decideWinner(rule, equal, 0)).toEqual({ kind: 'open' });
    const best = [variant(1, { replied: 30 }), variant(2, { replied: 120 }), variant(3, { replied: 10 })];
    expect(decideWinner(rule, best, 0)).toMatchObject({ kind: 'winner', variant: 2 });
  });
});
