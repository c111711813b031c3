import { expect, test } from 'vitest';
import { type Advance, advanceSlices } from '../../../src/ledger/requests/advance.ts';
import { readContents } from '../../../src/ledger/requests/read-contents.ts';
import { markUnsentInDoubt } from '../../../src/ledger/runs/stop.ts';
import type { SendingSlice } from '../../../src/ledger/slices/acquire.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import { acquireSliceOf } from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

async function acquireSixRequests(): Promise<SendingSlice> {
  const contacts = Array.from({ length: 6 }, (_, index) => aContact(index + 2));
  return acquireSliceOf(opened.ledger, await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts));
}

async function claim({ run, slice, owner, version, claimedTo }: SendingSlice, to: number): Promise<Advance> {
  const { rows } = await opened.ledger.pool.query<{ epoch: string }>('SELECT epoch FROM suppression_epoch');
  const epoch = rows[0]?.epoch ?? '';
  return { run, slice, owner, version: version + 1, claim: { after: claimedTo, to, epoch }, accepted: [] };
}

const advance = async (change: Advance, now = new Date()) =>
  (await advanceSlices(opened.ledger.hot, [change], now, null))[0];

const markAllInDoubt = async (run: string) =>
  markUnsentInDoubt(await opened.ledger.queue(), opened.ledger.pool, run, {
    reason: { kind: 'untried_proof', messageId: 'M1' },
    since: new Date(),
    now: new Date(),
  });

const statesOf = async (run: string): Promise<string[]> => {
  const sql = 'SELECT state FROM request_states WHERE run_id = $1 ORDER BY request';
  return (await opened.ledger.pool.query<{ state: string }>(sql, [run])).rows.map(({ state }) => state);
};

test.each([3, 6])(
  'a worker that has read a slice cannot claim its first %i requests after another ledger may have sent them',
  async (to) => {
    const slice = await acquireSixRequests();
    const { requests } = await readContents(opened.ledger.hot, slice, slice.claimedTo, null);
    expect(requests).toHaveLength(6);
    expect(await markAllInDoubt(slice.run)).toBe(6);
    const claiming = await claim(slice, to);
    expect(await advance(claiming)).toBe('refused');
    expect(await advance(claiming)).toBe('refused');
    expect(await statesOf(slice.run)).toEqual(Array(6).fill('in_doubt'));
  },
);

test('a claim that is returned after another ledger may have sent the run does not make its requests planned again', async () => {
  const slice = await acquireSixRequests();
  const now = new Date();
  const claiming = await claim(slice, 3);
  expect(await advance(claiming, now)).toBe('granted');
  expect(await markAllInDoubt(slice.run)).toBe(3);
  const back = { ...claiming, version: claiming.version + 1, claim: { after: 3, to: 1, epoch: '0' } };
  expect(await advance(back)).toBe('refused');
  expect(await statesOf(slice.run)).not.toContain('planned');
});
