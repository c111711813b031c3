import { expect, test } from 'vitest';
import { createDeferredNotifications } from '../../../src/engine/notify/notifier.ts';

test('a deferred notification is due again after half a minute and causes one warning', () => {
  let now = 0;
  const left = createDeferredNotifications(() => now);
  left.defer('a');
  expect([left.ids(), left.shouldWarn('a')]).toEqual([['a'], true]);
  now = 30_000;
  expect(left.ids()).toEqual([]);
  left.defer('a');
  expect([left.ids(), left.shouldWarn('a')]).toEqual([['a'], false]);
});
