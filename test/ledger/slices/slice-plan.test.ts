import { afterAll, beforeAll, expect, test } from 'vitest';
import { requestsInSlice } from '../../../src/ledger/slices/plan.ts';
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

const full = requestsInSlice;

test.each([
  [1, [[1, 1, 1]]],
  [full - 1, [[1, 1, full - 1]]],
  [full, [[1, 1, full]]],
  [
    full + 1,
    [
      [1, 1, full],
      [2, full + 1, full + 1],
    ],
  ],
  [
    2 * full + 203,
    [
      [1, 1, full],
      [2, full + 1, 2 * full],
      [3, 2 * full + 1, 2 * full + 203],
    ],
  ],
])(
  'a run of %i requests is cut into slices of the same size, and has one more for the phase of settling doubts',
  async (requests, slices) => {
    expect(await slicesOf(requests)).toEqual([...slices, [slices.length + 1, null, null]]);
  },
);

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
    full + 100,
    10,
    [
      [1, 1, 10],
      [2, 11, full + 10],
      [3, full + 11, full + 100],
    ],
  ],
])(
  'of %i requests, the first %i are a slice by themselves where they are to be waited for',
  async (requests, first, slices) => {
    expect(await slicesOf(requests, first)).toEqual([...slices, [slices.length + 1, null, null]]);
  },
);
