import type pg from 'pg';
import * as orphans from '../../src/ledger/requests/orphans.ts';
import type { Settlement as Settled } from '../../src/ledger/requests/settlement.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import * as claim from './requests.ts';
import * as settle from './requests.ts';

/** The ledger's functions of a slice, for tests of whole runs that have one slice and one owner. */

type Outcome<Union> = Union extends { readonly state: 'rejected' }
  ? Omit<Union, 'run' | 'slice' | 'owner' | 'divide'>
  : Omit<Union, 'run' | 'slice' | 'owner'>;
/** Without the slice. */
export type Settlement = Outcome<Settled>;
export type ClaimedRequest = claim.ClaimedRequest;

export async function claimRequests(
  pool: pg.Pool,
  claiming: { readonly run: string; readonly owner: string; readonly limit: number; readonly now: Date },
): Promise<claim.Claim> {
  const { run, owner } = claiming;
  const range = await hold(pool, run, owner);
  const [claimed] = await claim.claimRequests(pool, [{ ...claiming, ...range, from: 1 }], claiming.now);
  await pool.query(
    `UPDATE slices SET state = 'waiting', job = NULL, worker = NULL, owner = NULL WHERE run_id = $1 AND slice = 1`,
    [run],
  );
  return claimed ?? { claimed: [], cancelled: [] };
}

/** @returns the requests that were settled */
export async function settleRequests(
  pool: pg.Pool,
  run: string,
  owner: string,
  settlements: readonly Settlement[],
): Promise<number[]> {
  const settled = await settle.settleRequests(
    pool,
    settlements.map((settlement) =>
      settlement.state === 'rejected'
        ? { ...settlement, run, slice: 1, owner, divide: false }
        : { ...settlement, run, slice: 1, owner },
    ),
  );
  return settlements.filter((_, place) => settled.has(place)).map(({ request }) => request);
}

export function doubtOrphanedRequests(pool: pg.Pool, run: string, now: Date): Promise<number> {
  return inTransaction(pool, (client) =>
    orphans.doubtOrphanedRequests(client, { run, slice: 1, first: 1, last: 1_000_000 }, now),
  );
}

async function hold(pool: pg.Pool, run: string, owner: string) {
  await pool.query(`UPDATE runs SET state = 'running' WHERE run_id = $1 AND state = 'planned'`, [run]);
  const { rows } = await pool.query<{ last: number }>(
    `UPDATE slices SET state = 'held', job = gen_random_uuid(), worker = $2, owner = $2
     WHERE run_id = $1 AND slice = 1 RETURNING last_request AS last`,
    [run, owner],
  );
  return { run, slice: 1, first: 1, last: rows[0]?.last ?? 0 };
}
