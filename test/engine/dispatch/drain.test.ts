import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cutOffAfter, drainDeadlines } from '../../../src/engine/dispatch/drain.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a draining process waits 7.5 seconds for answers and 9 seconds for the ledger', async () => {
  const stop = new AbortController();
  const { begun, cutOff, giveUp } = drainDeadlines(stop.signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([cutOff.aborted, giveUp.aborted]).toEqual([false, false]);
  stop.abort();
  await begun;
  const abortedAfter = async (milliseconds: number) => {
    await vi.advanceTimersByTimeAsync(milliseconds);
    return [cutOff.aborted, giveUp.aborted];
  };
  expect(cutOffAfter).toBe(7_500);
  expect(await abortedAfter(7_499)).toEqual([false, false]);
  expect(await abortedAfter(1)).toEqual([true, false]);
  expect(await abortedAfter(1_499)).toEqual([true, false]);
  expect(await abortedAfter(1)).toEqual([true, true]);
});

test('an earlier stop starts the deadlines at once, and clear() removes them', async () => {
  const stop = new AbortController();
  stop.abort();
  const [waiting, done] = [drainDeadlines(stop.signal), drainDeadlines(stop.signal)];
  await waiting.begun;
  done.clear();
  await vi.advanceTimersByTimeAsync(9_000);
  expect([waiting.giveUp.aborted, done.giveUp.aborted]).toEqual([true, false]);
});
