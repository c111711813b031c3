import { randomUUID } from 'node:crypto';
import type { Ledger } from '../../src/ledger/connection.ts';
import { type Claim, claimRequests } from '../../src/ledger/requests/claim.ts';
import { beginRun } from '../../src/ledger/runs/begin.ts';
import { acquireSlice, type HeldSlice } from '../../src/ledger/slices/acquire.ts';

/** Begins a run, and takes its next slice into the test's hands, as a worker would. */
export async function holdNextSlice({ pool, queue: open }: Ledger, run: string): Promise<HeldSlice> {
  const queue = await open();
  const now = new Date();
  // A group of its own, so that the slices of other tests do not count.
  const plan = { run, account: run, slots: 4, atOnce: 4, canary: false };
  await beginRun(queue, pool, plan, { lookUp: false, resends: 0 }, now);
  for (;;) {
    const taking = { worker: randomUUID(), owner: randomUUID(), ignoredAccounts: [], now };
    const acquisition = await acquireSlice(queue, pool, taking);
    if (acquisition.kind === 'none') throw new Error(`run ${run} has no slice in the queue`);
    if (acquisition.kind === 'held' && acquisition.slice.run === run) return acquisition.slice;
  }
}

export async function claimFrom(
  { hot }: Ledger,
  slice: HeldSlice,
  limit: number,
  now = new Date(),
): Promise<Claim> {
  const [claim] = await claimRequests(hot, [{ ...slice, from: slice.first, limit }], now);
  return claim ?? { claimed: [], cancelled: [] };
}

/** Right after a start of Postgres nobody is taken for dead. */
export async function outwaitStart({ pool }: Ledger): Promise<void> {
  await pool.query(
    'SELECT pg_sleep(greatest(0, 2.1 - extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())))',
  );
}
