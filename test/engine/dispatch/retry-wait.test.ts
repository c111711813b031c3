import { expect, test } from 'vitest';
import { maxRetryWait, retryWait } from '../../../src/engine/dispatch/retry-wait.ts';
import { maxRetryAfter } from '../../../src/gateway/retry-after.ts';

const nearlyOne = 1 - Number.EPSILON;

test.each([
  [1, 499],
  [2, 999],
  [3, 1999],
  [5, 7999],
  [6, 9999],
  [20, 9999],
  [5000, 9999],
])('the wait after attempt %i is drawn evenly from 0 to %i ms', (attempt, max) => {
  expect(retryWait(attempt, undefined, 0)).toBe(0);
  expect(retryWait(attempt, undefined, 0.5)).toBe((max + 1) / 2);
  expect(retryWait(attempt, undefined, nearlyOne)).toBe(max);
});

test('the jitter is added to what the service asks for', () => {
  expect(retryWait(1, 3000, 0)).toBe(3000);
  expect(retryWait(1, 3000, 0.5)).toBe(3250);
});

test('no wait exceeds the longest Retry-After plus the highest jitter', () => {
  expect(retryWait(5000, maxRetryAfter, nearlyOne)).toBe(maxRetryWait - 1);
});
