import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { describe, expect, test } from 'vitest';
import { createLanes } from '../../../src/engine/dispatch/work-slice.ts';

type Work = (item: number) => Promise<void>;

/** Records in which order 50 items are begun, and how many at once. */
async function observeWork(workAll: (work: Work, items: number[]) => Promise<void>) {
  const begun: number[] = [];
  let atOnce = 0;
  let maxAtOnce = 0;
  const items = Array.from({ length: 50 }, (_, index) => index);
  await workAll(async (item) => {
    begun.push(item);
    maxAtOnce = Math.max(maxAtOnce, ++atOnce);
    await sleep(item % 7);
    atOnce--;
  }, items);
  return { begun, mostAtOnce: maxAtOnce };
}

describe('lanes', () => {
  test.each([1, 4, 16])('lanes begin items in the same order as p-limit, %i at once', async (concurrency) => {
    const inLanes = await observeWork(async (work, items) => {
      const lanes = createLanes(concurrency, work);
      lanes.add(items);
      await lanes.whenIdle();
    });
    const limited = await observeWork(async (work, items) => {
      const limit = pLimit(concurrency);
      await Promise.all(items.map((item) => limit(work, item)));
    });
    expect(inLanes).toEqual(limited);
    expect(inLanes.mostAtOnce).toBe(concurrency);
  });

  test('items that are added in many batches are worked by no more lanes at once', async () => {
    const { begun, mostAtOnce } = await observeWork(async (work, items) => {
      const lanes = createLanes(4, work);
      for (let from = 0; from < items.length; from += 5) {
        lanes.add(items.slice(from, from + 5));
        await sleep(1);
      }
      await lanes.whenIdle();
    });
    expect(begun).toHaveLength(50);
    expect(mostAtOnce).toBe(4);
  });

  test('lanes work items that are added during or after the work', async () => {
    const done: number[] = [];
    const lanes = createLanes<number>(2, async (item) => {
      if (item === 1) lanes.add([3, 4]);
      await sleep(1);
      done.push(item);
    });
    lanes.add([1, 2]);
    await lanes.whenIdle();
    expect(done.toSorted()).toEqual([1, 2, 3, 4]);
    lanes.add([5, 6, 7]);
    await lanes.whenIdle();
    expect(done.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(lanes.waiting()).toBe(0);
  });
});
