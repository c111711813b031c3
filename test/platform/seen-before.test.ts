import { expect, test } from 'vitest';
import { openSeenBefore } from '../../src/platform/seen-before.ts';

test('what has come up is always recognized, and hardly anything else is', () => {
  const seenBefore = openSeenBefore();
  const addresses = Array.from({ length: 200_000 }, (_, number) => `+614${String(number).padStart(8, '0')}`);
  const mistaken = addresses.filter(seenBefore);
  expect(mistaken.length).toBeLessThan(100);
  expect(addresses.every(seenBefore)).toBe(true);
});
