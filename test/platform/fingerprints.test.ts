import { expect, test } from 'vitest';
import { createFingerprintMap } from '../../src/platform/fingerprints.ts';
import { createNumberList } from '../../src/platform/number-list.ts';
import { seededIntegers } from '../support/seeded-integers.ts';

test('the fingerprint map keeps the first numbers of each text', () => {
  const map = createFingerprintMap();
  const choose = seededIntegers(3);
  const known = new Map<string, readonly [number, number]>();
  for (let index = 1; index <= 60_000; index++) {
    const number = choose(40_000);
    // Consecutive numbers, and other texts.
    const text = index % 3 === 0 ? `user${number}@example.com` : `+6421${String(number).padStart(7, '0')}`;
    expect(map.add(text, index, number)).toEqual(known.get(text));
    if (!known.has(text)) known.set(text, [index, number]);
  }
  for (const [text, numbers] of known) expect(map.add(text, 1, 0)).toEqual(numbers);
  // At most half of the memory is unused.
  expect(map.bytes()).toBeLessThan(known.size * 32 + 512 * 1024);
});

test('increment counts how often a text occurs', () => {
  const map = createFingerprintMap();
  expect([map.increment('a'), map.increment('b'), map.increment('a'), map.increment('a')]).toEqual([
    0, 0, 1, 2,
  ]);
});

test('the number list keeps numbers in their order, across its chunks', () => {
  const list = createNumberList();
  for (let number = 0; number < 70_000; number++) expect(list.push(number * 7)).toBe(number);
  list.set(65_536, 4_294_967_295);
  expect([list.length(), list.at(0), list.at(65_535), list.at(65_536), list.at(69_999)]).toEqual([
    70_000,
    0,
    65_535 * 7,
    4_294_967_295,
    69_999 * 7,
  ]);
  expect(() => list.at(140_000)).toThrow(RangeError);
});
