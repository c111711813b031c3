import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/ledger/connection.ts';
import { acquireSlice, type HeldSlice } from '../../src/ledger/slices/acquire.ts';
import { enqueueSlice } from '../../src/ledger/slices/enqueue.ts';
import { doubtsSlice } from '../../src/ledger/slices/plan.ts';
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
  const taking = { worker: randomUUID(), owner: randomUUID(), ignoredAccounts: [], now: new Date() };
  const acquisition = await acquireSlice(queue, pool, taking);
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
