import { expect, test } from 'vitest';
import { createBloomFilter } from '../../src/platform/bloom-filter.ts';

test('what has come up is always recognized, and hardly anything else is', () => {
  const seenBefore = createBloomFilter();
  const addresses = Array.from({ length: 200_000 }, (_, number) => `+614${String(number).padStart(8, '0')}`);
  const mistaken = addresses.filter(seenBefore);
  expect(mistaken.length).toBeLessThan(100);
  expect(addresses.every(seenBefore)).toBe(true);
});
