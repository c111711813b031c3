import { expect, test } from 'vitest';
import { createCallLimit, createCallLimits } from '../../../src/server/api/call-limits.ts';

test('a call beyond the limit is answered 503, and a call that ends or fails makes room for another', async () => {
  const slots = createCallLimit(2, 1);
  const { promise, resolve } = Promise.withResolvers<string>();
  const { promise: failing, reject } = Promise.withResolvers<string>();
  const running = [slots(() => promise), slots(() => failing)];
  await expect(slots(async () => 'third')).rejects.toMatchObject({ status: 503, kind: 'busy' });
  reject(new Error('gone'));
  await expect(running[1]).rejects.toThrow('gone');
  expect(await slots(async () => 'third')).toBe('third');
  resolve('first');
  expect(await running[0]).toBe('first');
});

test('reports leave room for one page, both for one plan, and plans can use the whole limit', async () => {
  const { plan, page, report } = createCallLimits(1);
  const { promise, resolve } = Promise.withResolvers<string>();
  const reports = [report(() => promise), report(() => promise)];
  await expect(report(async () => 'third')).rejects.toMatchObject({ kind: 'busy' });
  expect(await page(async () => 'shown')).toBe('shown');
  const shown = page(() => promise);
  await expect(page(async () => 'fourth')).rejects.toMatchObject({ kind: 'busy' });
  expect(await plan(async () => 'planned')).toBe('planned');
  const planned = plan(() => promise);
  await expect(plan(async () => 'fifth')).rejects.toMatchObject({ kind: 'busy' });
  resolve('done');
  expect(await Promise.all([...reports, shown, planned])).toEqual(['done', 'done', 'done', 'done']);
  expect(await report(async () => 'next')).toBe('next');
});

test('calls wait for a moment and continue in the order in which they came', async () => {
  const slots = createCallLimit(1, 5_000);
  const { promise, resolve } = Promise.withResolvers<string>();
  const ended: string[] = [];
  const calls = [slots(() => promise), slots(async () => 'second'), slots(async () => 'third')];
  for (const call of calls) void call.then((name) => ended.push(name));
  resolve('first');
  await Promise.all(calls);
  expect(ended).toEqual(['first', 'second', 'third']);
});
