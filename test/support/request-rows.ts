import type pg from 'pg';
import { addAllPlannedRows, addUnrecordedRows } from '../../src/ledger/requests/add-rows.ts';
import { inTransaction } from '../../src/ledger/session.ts';

/** Gives every request of a run a row in its present state, so that a test can change it. */
export async function createRequestRows(pool: pg.Pool, run: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ slice: number; first: number; last: number; owner: string }>(
      `SELECT slice, first_request AS first, last_request AS last, owner
       FROM slices
       WHERE run_id = $1 AND phase = 'sending' AND owner IS NOT NULL`,
      [run],
    );
    for (const { owner, ...range } of rows) await addUnrecordedRows(client, { run, ...range }, owner);
    await addRowsOfAccepted(client, run);
    const { rowCount } = await client.query(`SELECT FROM runs WHERE run_id = $1 AND state = 'cancelled'`, [
      run,
    ]);
    // Requests without rows of a cancelled run are cancelled by definition.
    if (rowCount === 0) await addAllPlannedRows(client, run);
  });
}

/** Does this for all runs. */
export async function createAllRequestRows(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ run: string }>('SELECT run_id AS run FROM runs');
  for (const { run } of rows) await createRequestRows(pool, run);
}

async function addRowsOfAccepted(client: pg.ClientBase, run: string): Promise<void> {
  await client.query(
    `WITH accepted AS MATERIALIZED (
       SELECT * FROM ordinary_requests_between($1, 1, 2147483647) WHERE state = 'accepted'
     ), attempt AS (
       INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, http_status, detail)
       SELECT run_id, request, 1, gen_random_uuid(), finished_at - took, finished_at, 'accepted', http_status, reason
       FROM accepted
     )
     INSERT INTO requests (run_id, request, envelope, recipients, state, reason, attempts, updated_at)
     SELECT run_id, request, envelope, recipients, state, reason, 1, updated_at FROM accepted`,
    [run],
  );
  await client.query('DELETE FROM outcomes WHERE run_id = $1', [run]);
  // Their answers are in the attempts now.
  await client.query(
    'UPDATE slice_outcomes SET took_ms = array_fill(CAST(NULL AS integer), ARRAY[cardinality(took_ms)]) WHERE run_id = $1',
    [run],
  );
  await client.query('DELETE FROM slice_outcomes WHERE run_id = $1', [run]);
}
