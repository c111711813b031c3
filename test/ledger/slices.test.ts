import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/ledger/connection.ts';
import { beginRun } from '../../src/ledger/runs/begin.ts';
import { cancelRun, pauseRun } from '../../src/ledger/runs/stop.ts';
import { type Acquisition, acquireSlice, type HeldSlice } from '../../src/ledger/slices/acquire.ts';
import { enqueueSlice } from '../../src/ledger/slices/enqueue.ts';
import { finishSlice } from '../../src/ledger/slices/finish.ts';
import { doubtsSlice } from '../../src/ledger/slices/plan.ts';
import { returnSlice } from '../../src/ledger/slices/return.ts';
import { aContact, aRun, openTestLedger, planContacts, type TestLedger } from '../support/ledger.ts';
import { claimFrom, holdNextSlice } from '../support/slices.ts';

let opened: TestLedger;

beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());

async function holdDoubts(run: string): Promise<HeldSlice> {
  const { pool, queue: open } = opened.ledger;
  const queue = await open();
  await inTransaction(pool, (client) =>
    enqueueSlice(queue, client, { run, account: run, slots: 4 }, doubtsSlice),
  );
  const acquisition = await takeSlice();
  return acquisition.kind === 'held' ? acquisition.slice : expect.fail(acquisition.kind);
}

test('whoever takes the slice of the requests in doubt leaves alone what others are sending', async () => {
  const { ledger } = opened;
  const run = await planContacts(
    ledger,
    aRun(),
    [1, 2, 3, 4].map((line) => aContact(line)),
  );
  const sending = await holdNextSlice(ledger, run);
  expect((await claimFrom(ledger, sending, 2)).claimed).toHaveLength(2);
  expect((await holdDoubts(run)).slice).toBe(doubtsSlice);
  const { rows } = await ledger.pool.query('SELECT state, owner FROM requests WHERE run_id = $1', [run]);
  expect(rows).toEqual([1, 2].map(() => ({ state: 'sending', owner: sending.owner })));
});

test('a run can be paused while its slices are being taken', async () => {
  const { ledger } = opened;
  const queue = await ledger.queue();
  const run = await runOfSlices(4);
  const plan = { run, account: run, slots: 4, atOnce: 4, canary: false };
  for (let round = 0; round < 10; round++) {
    await beginRun(queue, ledger.pool, plan, { lookUp: false, resends: 0 }, new Date());
    const taken = Promise.all([takeSlice(), takeSlice(), takeSlice()]);
    await pauseRun(queue, ledger.pool, run, 'enough');
    const held = (await taken).flatMap((taking) => (taking.kind === 'held' ? [taking.slice] : []));
    const { rows } = await ledger.pool.query(
      `SELECT slice FROM slices WHERE run_id = $1 AND state <> 'waiting' ORDER BY slice`,
      [run],
    );
    expect(rows).toEqual(held.map(({ slice }) => ({ slice })).sort((one, other) => one.slice - other.slice));
    for (const slice of held) {
      const policy = { lookUp: false, resends: 0 };
      await finishSlice(queue, ledger.pool, slice, plan, policy, false, new Date());
    }
  }
});

test('a slice that a worker returns when its run is cancelled is done, and not in the queue', async () => {
  const { ledger } = opened;
  const queue = await ledger.queue();
  const run = await runOfSlices(1);
  const slice = await holdNextSlice(ledger, run);
  await cancelRun(queue, ledger.pool, run, 'enough', new Date());
  await returnSlice(queue, ledger.pool, slice, new Date());
  const { rows } = await ledger.pool.query('SELECT state, job FROM slices WHERE run_id = $1 AND slice = 1', [
    run,
  ]);
  expect(rows).toEqual([{ state: 'done', job: null }]);
});

test('a run that is begun goes into the queue as the account is now, whatever it was when it was queued', async () => {
  const { ledger } = opened;
  const queue = await ledger.queue();
  const run = await runOfSlices(4);
  const plan = { run, account: run, slots: 4, atOnce: 4, canary: false };
  const policy = { lookUp: false, resends: 0 };
  await beginRun(queue, ledger.pool, plan, policy, new Date());
  await beginRun(queue, ledger.pool, { ...plan, slots: 1, atOnce: 1 }, policy, new Date());
  const taken = [await takeSlice(), await takeSlice()];
  expect(taken.map(({ kind }) => kind)).toEqual(['held', 'none']);
});

async function runOfSlices(slices: number): Promise<string> {
  const { ledger } = opened;
  const contacts = Array.from({ length: slices }, (_, index) => aContact(index + 2));
  const run = await planContacts(ledger, aRun({ chunkSize: 1 }), contacts);
  await ledger.pool.query('DELETE FROM slices WHERE run_id = $1', [run]);
  await ledger.pool.query(
    `INSERT INTO slices (run_id, slice, first_request, last_request, state)
     SELECT $1, slice, slice, slice, 'waiting' FROM generate_series(1, $2::integer) AS slice`,
    [run, slices],
  );
  return run;
}

async function takeSlice(): Promise<Acquisition> {
  const { pool, queue } = opened.ledger;
  const taking = { worker: randomUUID(), owner: randomUUID(), ignoredAccounts: [], now: new Date() };
  return acquireSlice(await queue(), pool, taking);
}
