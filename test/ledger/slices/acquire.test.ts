import { expect, test } from 'vitest';
import { cancelRun, pauseRun } from '../../../src/ledger/runs/stop.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import type { HeldSlice } from '../../../src/ledger/slices/acquire.ts';
import { enqueueDoubts } from '../../../src/ledger/slices/enqueue.ts';
import { returnSlice } from '../../../src/ledger/slices/reclaim.ts';
import { aContact, aRun, planContacts } from '../../support/ledger.ts';
import {
  acquireNextSlice,
  acquireSliceOf,
  beginSliced,
  claimFrom,
  finishHeld,
  planSlicedRun,
} from '../../support/slices.ts';
import { testLedger } from '../../support/test-ledger.ts';

const opened = testLedger();

async function acquireDoubtsPhase(run: string): Promise<HeldSlice> {
  const { pool, queue: open } = opened.ledger;
  const queue = await open();
  await inTransaction(pool, (client) =>
    enqueueDoubts(queue, client, { run, account: run, maxAccountSlices: 4, priority: 'normal' }),
  );
  const acquisition = await acquireNextSlice(opened.ledger);
  return acquisition.kind === 'held' ? acquisition.slice : expect.fail(acquisition.kind);
}

test('a worker that begins to settle doubts does not change requests that others are sending', async () => {
  const { ledger } = opened;
  const run = await planContacts(
    ledger,
    aRun(),
    [1, 2, 3, 4].map((line) => aContact(line)),
  );
  const sending = await acquireSliceOf(ledger, run);
  expect((await claimFrom(ledger, sending, 2)).claimed).toHaveLength(2);
  expect((await acquireDoubtsPhase(run)).phase).toBe('settling doubts');
  const { rows } = await ledger.pool.query(
    `SELECT q.state, a.owner
     FROM request_states q
     JOIN all_attempts a ON a.run_id = q.run_id AND a.request = q.request AND a.attempt = q.attempts
     WHERE q.run_id = $1`,
    [run],
  );
  expect(rows).toEqual([1, 2].map(() => ({ state: 'sending', owner: sending.owner })));
});

test('a run can be paused while its slices are being acquired', async () => {
  const { ledger } = opened;
  const queue = await ledger.queue();
  const run = await planSlicedRun(opened.ledger, 4);
  for (let round = 0; round < 10; round++) {
    await beginSliced(ledger, run);
    const acquisitions = Promise.all([
      acquireNextSlice(opened.ledger),
      acquireNextSlice(opened.ledger),
      acquireNextSlice(opened.ledger),
    ]);
    await pauseRun(queue, ledger.pool, run, { reason: 'enough' });
    const held = (await acquisitions).flatMap((each) => (each.kind === 'held' ? [each.slice] : []));
    const { rows } = await ledger.pool.query(
      `SELECT slice FROM slices WHERE run_id = $1 AND state <> 'waiting' ORDER BY slice`,
      [run],
    );
    expect(rows).toEqual(held.map(({ slice }) => ({ slice })).sort((one, other) => one.slice - other.slice));
    for (const slice of held) {
      await finishHeld(ledger, slice);
    }
  }
});

test('a slice that is returned to a cancelled run is done and not queued', async () => {
  const { ledger } = opened;
  const queue = await ledger.queue();
  const run = await planSlicedRun(opened.ledger, 1);
  const slice = await acquireSliceOf(ledger, run);
  await cancelRun(queue, ledger.pool, run, { reason: 'enough', now: new Date() });
  await returnSlice(queue, ledger.pool, slice, new Date());
  const { rows } = await ledger.pool.query('SELECT state, job FROM slices WHERE run_id = $1 AND slice = 1', [
    run,
  ]);
  expect(rows).toEqual([{ state: 'done', job: null }]);
});

test('a run that is begun again is queued under the account’s present limits', async () => {
  const { ledger } = opened;
  const run = await planSlicedRun(opened.ledger, 4);
  await beginSliced(ledger, run, { account: run });
  await beginSliced(ledger, run, { account: run, maxAccountSlices: 1, maxRunSlices: 1 });
  const acquisitions = [await acquireNextSlice(opened.ledger), await acquireNextSlice(opened.ledger)];
  expect(acquisitions.map(({ kind }) => kind)).toEqual(['held', 'none']);
});
