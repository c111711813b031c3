import { expect, test } from 'vitest';
import { notifyBackoff } from '../../../src/engine/notify/notifier.ts';

test('the backoff doubles from five seconds to ten minutes', () => {
  expect([1, 2, 3, 7, 8, 9, 1_000].map((attempts) => notifyBackoff(attempts, 0) / 1_000)).toEqual([
    5, 10, 20, 320, 600, 600, 600,
  ]);
});

test('the jitter shortens a wait by up to half', () => {
  expect(notifyBackoff(1, 0.999_999)).toBe(2_500);
});
