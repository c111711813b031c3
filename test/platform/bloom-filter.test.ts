import { expect, test } from 'vitest';
import { createBloomFilter } from '../../src/platform/text-hash.ts';

test('the Bloom filter reports every added text as seen, and hardly any other text', () => {
  const seenBefore = createBloomFilter();
  const addresses = Array.from({ length: 200_000 }, (_, number) => `+614${String(number).padStart(8, '0')}`);
  const mistaken = addresses.filter(seenBefore);
  expect(mistaken.length).toBeLessThan(100);
  expect(addresses.every(seenBefore)).toBe(true);
});
