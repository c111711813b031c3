import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { compactOutcomes } from '../../src/ledger/requests/compact.ts';
import * as orphans from '../../src/ledger/requests/orphans.ts';
import { addLostRows } from '../../src/ledger/requests/rows.ts';
import type { Settlement as Settled } from '../../src/ledger/requests/settlement.ts';
import { markBegun } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import * as requests from './requests.ts';

/** The ledger's functions of a slice, for tests of whole runs that have one slice and one owner. */

type Outcome<Union> = Union extends { readonly state: 'rejected' }
  ? Omit<Union, 'run' | 'slice' | 'owner' | 'divide'>
  : Omit<Union, 'run' | 'slice' | 'owner'>;
/** Without the slice. */
export type Settlement = Outcome<Settled>;
export type ClaimedRequest = requests.ClaimedRequest;

/** The slice stays the owner's for as long as a request that has no row is being sent. */
export async function claimRequests(
  pool: pg.Pool,
  claiming: { readonly run: string; readonly owner: string; readonly limit: number; readonly now: Date },
): Promise<requests.Claim> {
  const { run, owner } = claiming;
  const range = await hold(pool, run, owner);
  const [claim] = await requests.claimRequests(pool, [{ ...claiming, ...range, from: 1 }], claiming.now);
  await letGo(pool, run);
  return claim ?? { claimed: [], cancelled: [] };
}

/** @returns the requests that were settled */
export async function settleRequests(
  pool: pg.Pool,
  run: string,
  owner: string,
  settlements: readonly Settlement[],
): Promise<number[]> {
  const settled = await requests.settleRequests(
    pool,
    settlements.map((settlement) =>
      settlement.state === 'rejected'
        ? { ...settlement, run, slice: 1, owner, divide: false }
        : { ...settlement, run, slice: 1, owner },
    ),
  );
  await letGo(pool, run);
  return settlements.filter((_, place) => settled.has(place)).map(({ request }) => request);
}

export async function doubtUnrecorded(pool: pg.Pool, run: string, now: Date): Promise<number> {
  await giveRowsToSending(pool, run);
  const doubts = await inTransaction(pool, (client) =>
    orphans.doubtUnrecorded(client, { run, slice: 1, first: 1, last: 1_000_000 }, randomUUID(), now),
  );
  await letGo(pool, run);
  return doubts;
}

async function hold(pool: pg.Pool, run: string, owner: string) {
  await inTransaction(pool, (client) => markBegun(client, run));
  await giveRowsToSending(pool, run, owner);
  const { rows } = await pool.query<{ last: number }>(
    `UPDATE slices SET state = 'held', job = gen_random_uuid(), worker = $2, owner = $2
     WHERE run_id = $1 AND slice = 1 RETURNING last_request AS last`,
    [run, owner],
  );
  return { run, slice: 1, first: 1, last: rows[0]?.last ?? 0 };
}

/** @param but not of this owner */
async function giveRowsToSending(pool: pg.Pool, run: string, but: string | null = null): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ owner: string; first: number; last: number }>(
      `SELECT owner, first_request AS first, last_request AS last
       FROM slices
       WHERE run_id = $1 AND slice = 1 AND owner IS DISTINCT FROM $2`,
      [run, but],
    );
    for (const { owner, ...range } of rows) {
      if (owner !== null) await addLostRows(client, { run, slice: 1, ...range }, owner);
    }
  });
}

/** Done where nothing is left to send, as the ledger's own. */
async function letGo(pool: pg.Pool, run: string): Promise<void> {
  const { rows } = await pool.query<{ state: string }>(
    `UPDATE slices s
     SET job = NULL, worker = NULL, owner = NULL,
         state = CASE WHEN EXISTS (
           SELECT FROM requests_between(s.run_id, s.first_request, s.last_request) WHERE state IN ('planned', 'sending')
         ) THEN 'waiting' ELSE 'done' END
     WHERE run_id = $1 AND slice = 1 AND NOT EXISTS (
       SELECT FROM ordinary_requests_between(s.run_id, s.first_request, s.last_request) WHERE state = 'sending'
     )
     RETURNING state`,
    [run],
  );
  if (rows[0]?.state === 'done') await inTransaction(pool, (client) => compactOutcomes(client, run, 1));
}
