import { afterAll, beforeAll, expect, test } from 'vitest';
import { cutIntoSlices } from '../../../src/ledger/slices/plan.ts';
import { aContact, aRun, openTestLedger, planContacts, type TestLedger } from '../../support/ledger.ts';

let opened: TestLedger;
beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

/** The slices of a run of so many requests: number, first and last request. That of the phase of settling doubts has none. */
async function slicesOf(requests: number, canary: number | null = null): Promise<(number | null)[][]> {
  const contacts = Array.from({ length: requests }, (_, index) =>
    aContact(index + 2, { address: `+6141${String(index).padStart(7, '0')}` }),
  );
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1, canary }), contacts);
  const { rows } = await opened.ledger.pool.query<{ slice: (number | null)[]; state: string }>(
    `SELECT ARRAY[slice, first_request, last_request] AS slice, state FROM slices WHERE run_id = $1 ORDER BY slice`,
    [run],
  );
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['waiting']));
  return rows.map(({ slice }) => slice);
}

const least = 100;

test.each([
  [1, [[1, 1, 1]]],
  [least - 1, [[1, 1, least - 1]]],
  [least, [[1, 1, least]]],
  [
    least + 1,
    [
      [1, 1, least],
      [2, least + 1, least + 1],
    ],
  ],
  [
    2 * least + 3,
    [
      [1, 1, least],
      [2, least + 1, 2 * least],
      [3, 2 * least + 1, 2 * least + 3],
    ],
  ],
])(
  'a small run of %i requests is cut into slices of a hundred, and has one more for the phase of settling doubts',
  async (requests, slices) => {
    expect(await slicesOf(requests)).toEqual([...slices, [slices.length + 1, null, null]]);
  },
);

/** How many requests each slice of a run has. */
const sizesOf = (requests: number): number[] =>
  cutIntoSlices([{ first: 1, last: requests, windowPlace: null }], null).map(
    ({ first, last }) => last - first + 1,
  );

test('the first slices of a run grow and its last ones shrink, so that those worked at once do not end at once', () => {
  expect(sizesOf(4_000)).toEqual([125, 250, 375, 500, 500, 500, 438, 328, 246, 185, 139, 125, 125, 125, 39]);
  const sizes = sizesOf(1_000_000);
  expect(sizes.slice(0, 5)).toEqual([500, 1_000, 1_500, 2_000, 2_000]);
  expect(sizes.slice(-8)).toEqual([1_313, 985, 738, 554, 500, 500, 500, 160]);
});

test.each([1, 99, 101, 799, 801, 12_345, 1_000_000])(
  'the slices of a run of %i requests have each of them once, and none has more than two thousand',
  (requests) => {
    const sizes = sizesOf(requests);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(requests);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(2_000);
    expect(Math.min(...sizes.slice(0, -1), 100)).toBe(100);
  },
);

test('a slice has requests of one window only, and each window has slices of its own from its first request on', () => {
  const ranges = [
    { first: 1, last: 150, windowPlace: 1 },
    { first: 151, last: 160, windowPlace: 2 },
  ];
  expect(cutIntoSlices(ranges, null)).toEqual([
    { first: 1, last: 100, windowPlace: 1 },
    { first: 101, last: 150, windowPlace: 1 },
    { first: 151, last: 160, windowPlace: 2 },
  ]);
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
    2 * least,
    10,
    [
      [1, 1, 10],
      [2, 11, least + 10],
      [3, least + 11, 2 * least],
    ],
  ],
])(
  'of %i requests, the first %i are a slice by themselves where they are to be waited for',
  async (requests, first, slices) => {
    expect(await slicesOf(requests, first)).toEqual([...slices, [slices.length + 1, null, null]]);
  },
);
