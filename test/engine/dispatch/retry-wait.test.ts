import { expect, test } from 'vitest';
import {
  maxRetryAfter,
  maxRetryWait,
  retryAfterMilliseconds,
  retryWait,
} from '../../../src/engine/dispatch/next-step.ts';

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

const now = new Date('2026-10-21T07:28:00Z');

test.each([
  ['7', 7000],
  [' 0 ', 0],
  ['60', 60_000],
  ['61', maxRetryAfter],
  ['3600', 60_000],
  ['99999999999999999999999', maxRetryAfter],
  ['Wed, 21 Oct 2026 07:28:05 GMT', 5000],
  ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
  ['Wed, 21 Oct 2027 07:28:00 GMT', maxRetryAfter],
  ['-1', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Wed, 99 Oct 2026 07:28:05 GMT', undefined],
  ['', undefined],
  [undefined, undefined],
])('a Retry-After of %j means %j milliseconds', (text, milliseconds) => {
  expect(retryAfterMilliseconds(text, now)).toBe(milliseconds);
});
