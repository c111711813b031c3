import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { createCallLimit, createCallLimits } from '../../../src/server/api/call-limits.ts';

const aReply = () => ({ raw: new ServerResponse(new IncomingMessage(new Socket())) });

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
  const { plan, page, report } = createCallLimits(undefined, 1);
  const { promise, resolve } = Promise.withResolvers<string>();
  const wait = async (): Promise<void> => void (await promise);
  const reports = [report(aReply(), 'a', wait), report(aReply(), 'b', wait)];
  await expect(report(aReply(), 'c', wait)).rejects.toMatchObject({ kind: 'busy' });
  expect(await page(async () => 'shown')).toBe('shown');
  const shown = page(() => promise);
  await expect(page(async () => 'fourth')).rejects.toMatchObject({ kind: 'busy' });
  expect(await plan(async () => 'planned')).toBe('planned');
  const planned = plan(() => promise);
  await expect(plan(async () => 'fifth')).rejects.toMatchObject({ kind: 'busy' });
  resolve('done');
  expect(await Promise.all([shown, planned])).toEqual(['done', 'done']);
  await Promise.all(reports);
  await report(aReply(), 'c', wait);
});

test('each token has one report and one list at a time, and a list waits for no report', async () => {
  const { report, list } = createCallLimits(undefined, 1);
  const { promise, resolve } = Promise.withResolvers<void>();
  const wait = () => promise;
  const open = [report(aReply(), 'a', wait), report(aReply(), 'b', wait), list(aReply(), 'a', wait)];
  await expect(report(aReply(), 'a', wait)).rejects.toThrow('Another report of this token is open.');
  await expect(list(aReply(), 'a', wait)).rejects.toThrow('Another report of this token is open.');
  open.push(list(aReply(), 'c', wait));
  resolve();
  await Promise.all(open);
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
