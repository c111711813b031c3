import { expect, test } from 'vitest';
import { addLook } from '../../src/decisions/observation.ts';

test('looks add up to the time that passed between them', () => {
  expect(addLook(addLook(0, 1_000), 900)).toBe(1_900);
});

test('neither a clock that was set nor a night without a worker ends an observation', () => {
  expect(addLook(5_000, 36_000_000)).toBe(15_000);
  expect(addLook(5_000, -36_000_000)).toBe(5_000);
});
