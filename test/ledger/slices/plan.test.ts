import { expect, test } from 'vitest';
import { sliceSize } from '../../../src/ledger/slices/plan.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

/** The slices of a run: number, first and last request. The phase that settles doubts has no requests. */
async function slicesOf(requests: number, firstRequests: number | null = null): Promise<(number | null)[][]> {
  const contacts = Array.from({ length: requests }, (_, index) =>
    aContact(index + 2, { address: `+6141${String(index).padStart(7, '0')}` }),
  );
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1, firstRequests }), contacts);
  const { rows } = await opened.ledger.pool.query<{ slice: (number | null)[]; state: string }>(
    `SELECT ARRAY[slice, first_request, last_request] AS slice, state FROM slices WHERE run_id = $1 ORDER BY slice`,
    [run],
  );
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['waiting']));
  return rows.map(({ slice }) => slice);
}

const minSize = 100;

test.each([
  [1, [[1, 1, 1]]],
  [minSize - 1, [[1, 1, minSize - 1]]],
  [minSize, [[1, 1, minSize]]],
  [
    minSize + 1,
    [
      [1, 1, minSize],
      [2, minSize + 1, minSize + 1],
    ],
  ],
  [
    2 * minSize + 3,
    [
      [1, 1, minSize],
      [2, minSize + 1, 2 * minSize],
      [3, 2 * minSize + 1, 2 * minSize + 3],
    ],
  ],
])(
  'a run of %i requests is cut into slices of equal size, and one more for the phase that settles doubts',
  async (requests, slices) => {
    expect(await slicesOf(requests)).toEqual([...slices, [slices.length + 1, null, null]]);
  },
);

test('thousands of requests are cut into eight slices, and tens of thousands into slices of two thousand', async () => {
  const slices = await slicesOf(4_001);
  expect(slices).toHaveLength(8 + 1);
  expect(slices.slice(0, 2)).toEqual([
    [1, 1, 501],
    [2, 502, 1_002],
  ]);
  expect([800, 801, 16_000, 1_000_000].map(sliceSize)).toEqual([100, 101, 2_000, 2_000]);
});

test.each([
  [1, 10, [[1, 1, 1]]],
  [10, 10, [[1, 1, 10]]],
  [
    11,
    10,
    [
      [1, 1, 10],
      [2, 11, 11],
    ],
  ],
  [
    2 * minSize,
    10,
    [
      [1, 1, 10],
      [2, 11, minSize + 10],
      [3, minSize + 11, 2 * minSize],
    ],
  ],
])('of %i requests, the first %i get a slice of their own', async (requests, first, slices) => {
  expect(await slicesOf(requests, first)).toEqual([...slices, [slices.length + 1, null, null]]);
});
