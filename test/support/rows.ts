import type pg from 'pg';
import { addLostRows, addRowsOfPlanned } from '../../src/ledger/requests/rows.ts';
import { inTransaction } from '../../src/ledger/session.ts';

/** Rows of their own for all requests of a run that are planned or sending, so that a test may put them in any state. */
export async function giveRows(pool: pg.Pool, run: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ slice: number; first: number; last: number; owner: string }>(
      `SELECT slice, first_request AS first, last_request AS last, owner
       FROM slices
       WHERE run_id = $1 AND slice > 0 AND state = 'held'`,
      [run],
    );
    for (const { owner, ...range } of rows) await addLostRows(client, { run, ...range }, owner);
    await addRowsOfPlanned(client, run);
  });
}
