import { describe, expect, test } from 'vitest';
import { retryWait } from '../../src/engine/dispatch/retry-wait.ts';

const nearlyOne = 1 - Number.EPSILON;

test.each([
  [1, 499],
  [2, 999],
  [3, 1999],
  [5, 7999],
  [6, 9999],
  [20, 9999],
  [5000, 9999],
])('after attempt %i nothing to %i ms are waited, drawn evenly', (attempt, most) => {
  expect(retryWait(attempt, undefined, 0)).toBe(0);
  expect(retryWait(attempt, undefined, 0.5)).toBe((most + 1) / 2);
  expect(retryWait(attempt, undefined, nearlyOne)).toBe(most);
});

describe('what the service asks for', () => {
  test('is waited out, and the jitter comes on top', () => {
    expect(retryWait(1, 3000, 0)).toBe(3000);
    expect(retryWait(1, 3000, 0.5)).toBe(3250);
  });

  test.each([
    [Number.POSITIVE_INFINITY, 60_000],
    [1e15, 60_000],
    [60_001, 60_000],
    [-5000, 0],
    [0, 0],
  ])('is granted within a minute: %d ms become %i', (asked, granted) => {
    expect(retryWait(3, asked, 0)).toBe(granted);
  });
});
