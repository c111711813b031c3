import { expect, test } from 'vitest';
import { BoundedCache } from '../../src/platform/bounded-cache.ts';

/** Counts cache hits; adds missing keys. */
function foundOf(memory: BoundedCache<number, number>, keys: Iterable<number>, characters = 0): number {
  let found = 0;
  for (const key of keys) {
    const value = memory.get(key);
    if (value === undefined) memory.set(key, key, characters);
    else if (value === key) found++;
  }
  return found;
}

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index);

test('the cache keeps eight thousand entries that are used in turn', () => {
  const memory = new BoundedCache<number, number>();
  const keys = numbers(0, 8_000);
  expect([foundOf(memory, keys), foundOf(memory, keys), foundOf(memory, keys)]).toEqual([0, 8_000, 8_000]);
});

test('the cache keeps few entries if no key occurs twice', () => {
  const memory = new BoundedCache<number, number>();
  foundOf(memory, numbers(0, 20_000));
  expect(foundOf(memory, numbers(10_000, 9_900))).toBe(0);
});

test('the cache tries its full size again after a time of few hits', () => {
  const memory = new BoundedCache<number, number>();
  foundOf(memory, numbers(0, 300_000));
  const keys = numbers(300_000, 5_000);
  expect(foundOf(memory, Array.from({ length: 60 }, () => keys).flat())).toBeGreaterThan(200_000);
});

test('the cache keeps fewer entries if they have many characters', () => {
  const memory = new BoundedCache<number, number>();
  const [half, all] = [numbers(0, 40), numbers(0, 80)];
  expect(foundOf(memory, [...half, ...half], 100_000)).toBe(40);
  expect(foundOf(new BoundedCache<number, number>(), [...all, ...all], 100_000)).toBeLessThan(80);
});
