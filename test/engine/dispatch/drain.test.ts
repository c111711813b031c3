import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { cutOffAfter, drainDeadlines } from '../../../src/engine/dispatch/drain.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('answers are waited for 7.5 seconds after a process was asked to stop, and what is to be recorded for 9', async () => {
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

test('a process that was asked to stop before has no more time, and one that is done has no deadline', async () => {
  const stop = new AbortController();
  stop.abort();
  const [waiting, done] = [drainDeadlines(stop.signal), drainDeadlines(stop.signal)];
  await waiting.begun;
  done.clear();
  await vi.advanceTimersByTimeAsync(9_000);
  expect([waiting.giveUp.aborted, done.giveUp.aborted]).toEqual([true, false]);
});
