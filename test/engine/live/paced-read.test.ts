import { expect, test } from 'vitest';
import { createPacedRead } from '../../../src/engine/live/paced-read.ts';

/**
 * Each reading takes so many milliseconds, and returns its number.
 *
 * @param takes of each reading; the last of all others
 */
function createPaced(takes: number | readonly number[], least: number) {
  let now = 0;
  let readings = 0;
  const paced = createPacedRead({ monotonic: () => now }, least, async () => {
    now += typeof takes === 'number' ? takes : (takes[readings] ?? takes.at(-1) ?? 0);
    readings++;
    if (readings === 3) throw new Error('the ledger is away');
    return readings;
  });
  const after = async (milliseconds: number): Promise<number | undefined> => {
    now += milliseconds;
    await paced.refresh();
    return paced.latest();
  };
  return { paced, after };
}

test('a figure that takes long is read less often: at most a three-hundredth of the time', async () => {
  const { paced, after } = createPaced(50, 300);
  expect(paced.latest()).toBeUndefined();
  expect(await after(0)).toBe(1);
  expect(await after(300)).toBe(2);
  expect(await after(14_999)).toBe(2);
  // The third reading fails.
  expect([await after(1), await after(300)]).toEqual([2, 4]);
  expect([await after(14_999), await after(1)]).toEqual([4, 5]);
});

test('one slow reading, such as the first, does not make a figure old', async () => {
  const { after } = createPaced([500, 1, 1, 700, 1], 300);
  expect([await after(0), await after(300), await after(300)]).toEqual([1, 2, 2]);
  expect([await after(300), await after(300)]).toEqual([4, 5]);
});

test('a figure that takes no time is read after the least wait', async () => {
  const { after } = createPaced(0, 300);
  expect([await after(0), await after(299), await after(1)]).toEqual([1, 1, 2]);
});

test('after a failed reading the last figure stays, and is read again', async () => {
  const { after } = createPaced(0, 300);
  expect([await after(0), await after(300), await after(300), await after(300)]).toEqual([1, 2, 2, 4]);
});

test('how long a failed reading takes does not make the next one late', async () => {
  const { after } = createPaced([1, 1, 10_000, 1], 300);
  expect([await after(0), await after(300), await after(300)]).toEqual([1, 2, 2]);
  expect([await after(9_999), await after(1)]).toEqual([2, 4]);
});

test('a figure whose reading takes long is read again after five minutes', async () => {
  const { after } = createPaced(9_000, 300);
  expect([await after(0), await after(300), await after(299_999)]).toEqual([1, 2, 2]);
  // The third reading fails.
  expect([await after(1), await after(9_000)]).toEqual([2, 4]);
});

test('an expired figure is read at once', async () => {
  const { paced, after } = createPaced(50, 300);
  await after(0);
  paced.expire();
  expect(await after(0)).toBe(2);
});
