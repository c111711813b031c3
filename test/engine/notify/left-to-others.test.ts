import { expect, test } from 'vitest';
import { openLeftToOthers } from '../../../src/engine/notify/left-to-others.ts';

test('what is left to others is taken again after half a minute, and is news once however often it is left', () => {
  let now = 0;
  const left = openLeftToOthers(() => now);
  left.leave('a');
  expect([left.ids(), left.isNews('a')]).toEqual([['a'], true]);
  now = 30_000;
  expect(left.ids()).toEqual([]);
  left.leave('a');
  expect([left.ids(), left.isNews('a')]).toEqual([['a'], false]);
});
