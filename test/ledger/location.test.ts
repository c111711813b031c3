import { beforeEach, expect, test } from 'vitest';
import type { ClaimMark } from '../../src/domain/claim-marks.ts';
import { findMissingClaim } from '../../src/ledger/location/location.ts';
import type { SendingSlice } from '../../src/ledger/slices/acquire.ts';
import { returnSlice } from '../../src/ledger/slices/reclaim.ts';
import { backUpLedger } from '../support/ledger-backup.ts';
import { claimRequests } from '../support/requests.ts';
import { acquireSliceOf, claimFrom, planSlicedRun } from '../support/slices.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
let run: string;
let slice: SendingSlice;
beforeEach(async () => {
  run = await planSlicedRun(opened.ledger, 1, 20);
  slice = await acquireSliceOf(opened.ledger, run);
});

async function claimEach(of: SendingSlice, requests: number): Promise<ClaimMark> {
  for (let claimed = 0; claimed < requests; claimed++)
    expect((await claimFrom(opened.ledger, of, 1)).claimed).toHaveLength(1);
  const { rows } = await opened.ledger.pool.query<{ version: number }>(
    'SELECT version FROM slices WHERE run_id = $1 AND slice = $2',
    [of.run, of.slice],
  );
  const at = new Date().toISOString();
  return { run: of.run, slice: of.slice, owner: of.owner, version: rows[0]?.version ?? 0, at };
}

const returned = async (of: SendingSlice): Promise<unknown> =>
  returnSlice(await opened.ledger.queue(), opened.ledger.pool, of, new Date());
const acquireFromAnother = async (): Promise<SendingSlice> => {
  await returned(slice);
  return acquireSliceOf(opened.ledger, run);
};
const missing = (mark: ClaimMark) => findMissingClaim(opened.ledger.pool, [mark]);

test('a claim is found while its owner holds the slice, after the slice is returned, and after others have claimed', async () => {
  const mark = await claimEach(slice, 3);
  expect(await missing(mark)).toBeUndefined();
  await returned(slice);
  expect(await missing(mark)).toBeUndefined();
  await claimEach(await acquireSliceOf(opened.ledger, run), 4);
  expect(await missing(mark)).toBeUndefined();
});

test.each([1, 3, 6])(
  'a claim that a restored ledger lacks is missed, even after %i changes by another owner',
  async (claims) => {
    await claimEach(slice, 1);
    const backup = await backUpLedger(opened.url);
    const mark = await claimEach(slice, 3);
    await backup.restore();
    expect(await missing(mark)).toEqual(mark);
    const other = await acquireFromAnother();
    expect(await missing(await claimEach(other, claims))).toBeUndefined();
    expect(await missing(mark)).toEqual(mark);
  },
);

test('nothing is claimed while the ledger lacks the last known claim', async () => {
  const backup = await backUpLedger(opened.url);
  const last = await claimEach(slice, 3);
  await backup.restore();
  const other = await acquireFromAnother();
  await claimEach(other, 6);
  const { rows } = await opened.ledger.pool.query<{ ledger: string }>('SELECT ledger FROM ledger_location');
  const fence = { ledger: rows[0]?.ledger ?? '', last };
  const claim = { ...other, limit: 1 };
  const [refused] = await claimRequests(opened.ledger.pool, [claim], { now: new Date(), key: null, fence });
  expect(refused?.claimed).toEqual([]);
  const own = { ...fence, last: await claimEach(other, 1) };
  const [granted] = await claimRequests(opened.ledger.pool, [claim], {
    now: new Date(),
    key: null,
    fence: own,
  });
  expect(granted?.claimed).toHaveLength(1);
});
