import { expect, test } from 'vitest';
import { notifyBackoff } from '../../../src/engine/notify/notify-backoff.ts';

test('the waits double from five seconds, and end at ten minutes, however often it was tried', () => {
  expect([1, 2, 3, 7, 8, 9, 1_000].map((attempts) => notifyBackoff(attempts, 0) / 1_000)).toEqual([
    5, 10, 20, 320, 600, 600, 600,
  ]);
});

test('chance takes up to half of a wait away', () => {
  expect(notifyBackoff(1, 0.999_999)).toBe(2_500);
});
