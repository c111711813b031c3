import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { addUnrecordedRows } from '../../src/ledger/requests/add-rows.ts';
import { compactOutcomes } from '../../src/ledger/requests/advance.ts';
import * as orphans from '../../src/ledger/requests/doubt.ts';
import type { SliceRange } from '../../src/ledger/requests/read-contents.ts';
import type { Settlement as Settled } from '../../src/ledger/requests/settle.ts';
import { markBegun } from '../../src/ledger/run-states/transitions.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import * as requests from './requests.ts';

/** The ledger's slice functions, for runs with one owner. */

type Outcome<Union> = Union extends { readonly state: 'rejected' }
  ? Omit<Union, 'run' | 'slice' | 'owner' | 'divide'> & { readonly divide?: boolean }
  : Omit<Union, 'run' | 'slice' | 'owner'>;
export type Settlement = Outcome<Settled>;
export type ClaimedRequest = requests.ClaimedRequest;

/**
 * Claims from the first slice with planned requests. The owner keeps the slice while a request without a row is
 * being sent.
 */
export async function claimRequests(
  pool: pg.Pool,
  claiming: { readonly run: string; readonly owner: string; readonly limit: number; readonly now: Date },
): Promise<requests.Claim> {
  const { run, owner } = claiming;
  const range = await holdFirstSlice(pool, run, owner);
  if (!range) return { claimed: [], cancelled: [] };
  const [claim] = await requests.claimRequests(pool, [{ ...range, ...claiming, from: range.first }], {
    now: claiming.now,
  });
  await releaseSettledSlices(pool, run);
  return claim ?? { claimed: [], cancelled: [] };
}

/** @returns the settled requests */
export async function settleRequests(
  pool: pg.Pool,
  run: string,
  owner: string,
  settlements: readonly Settlement[],
): Promise<number[]> {
  const settled = await requests.settleRequests(
    pool,
    await Promise.all(
      settlements.map(async (settlement) => ({
        divide: false,
        ...settlement,
        run,
        owner,
        slice: await sliceOf(pool, run, settlement.request),
      })),
    ),
  );
  await releaseSettledSlices(pool, run);
  return settlements.filter((_, index) => settled.has(index)).map(({ request }) => request);
}

export async function markUnrecordedInDoubt(pool: pg.Pool, run: string, now: Date): Promise<number> {
  await addRowsForSending(pool, run);
  let doubts = 0;
  for (const range of await listSlices(pool, run)) {
    doubts += await inTransaction(pool, (client) =>
      orphans.markUnrecordedInDoubt(client, range, randomUUID(), now),
    );
  }
  await releaseSettledSlices(pool, run);
  return doubts;
}

async function holdFirstSlice(pool: pg.Pool, run: string, owner: string): Promise<SliceRange | undefined> {
  await inTransaction(pool, (client) => markBegun(client, run));
  await addRowsForSending(pool, run, owner);
  const slices = await listSlices(pool, run);
  const held = slices.find(({ planned }) => planned) ?? slices[0];
  if (!held) return undefined;
  await pool.query(
    `UPDATE slices SET state = 'held', job = gen_random_uuid(), worker = $2, owner = $2
     WHERE run_id = $1 AND slice = $3`,
    [run, owner, held.slice],
  );
  return held;
}

type DbSlice = SliceRange & { readonly owner: string | null; readonly planned: boolean };

async function listSlices(pool: pg.Pool, run: string): Promise<DbSlice[]> {
  const { rows } = await pool.query<DbSlice>(
    `SELECT run_id AS run, slice, first_request AS first, last_request AS last, owner,
            EXISTS (SELECT FROM requests_between(run_id, first_request, last_request) WHERE state = 'planned') AS planned
     FROM slices
     WHERE run_id = $1 AND phase = 'sending'
     ORDER BY slice`,
    [run],
  );
  return rows;
}

async function sliceOf(pool: pg.Pool, run: string, request: number): Promise<number> {
  const slices = await listSlices(pool, run);
  return slices.find(({ first, last }) => first <= request && request <= last)?.slice ?? 1;
}

/** @param exceptOwner keeps its requests without rows */
async function addRowsForSending(
  pool: pg.Pool,
  run: string,
  exceptOwner: string | null = null,
): Promise<void> {
  for (const { owner, ...range } of await listSlices(pool, run)) {
    if (owner !== null && owner !== exceptOwner) {
      await inTransaction(pool, (client) => addUnrecordedRows(client, range, owner));
    }
  }
}

/** Releases slices without requests being sent; without planned ones they are done. */
export async function releaseSettledSlices(pool: pg.Pool, run: string): Promise<void> {
  const { rows } = await pool.query<{ slice: number; state: string }>(
    `UPDATE slices s
     SET job = NULL, worker = NULL, owner = NULL,
         state = CASE WHEN EXISTS (
           SELECT FROM requests_between(s.run_id, s.first_request, s.last_request) WHERE state IN ('planned', 'sending')
         ) THEN 'waiting' ELSE 'done' END
     WHERE run_id = $1 AND phase = 'sending' AND NOT EXISTS (
       SELECT FROM ordinary_requests_between(s.run_id, s.first_request, s.last_request) WHERE state = 'sending'
     )
     RETURNING slice, state`,
    [run],
  );
  for (const { slice, state } of rows) {
    if (state === 'done') await inTransaction(pool, (client) => compactOutcomes(client, run, slice));
  }
}
