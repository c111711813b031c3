import type pg from 'pg';
import { inTransaction } from '../connection.ts';
import type { HeldSlice } from './acquire.ts';
import type { SliceQueue } from './queue.ts';
import { type DbTakenSlice, takeBack } from './take-back.ts';

/** Gives a slice of which nothing was claimed back, for a worker that has its account. */
export async function returnSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  { run, slice, owner }: HeldSlice,
  now: Date,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Whoever changes slices takes the run first.
    await client.query('SELECT FROM runs WHERE run_id = $1 FOR NO KEY UPDATE', [run]);
    const { rows } = await client.query<DbTakenSlice>(
      `
      SELECT s.run_id, s.slice, s.first_request, s.last_request, s.job, r.state AS run_state
      FROM slices s
      JOIN runs r USING (run_id)
      WHERE s.run_id = $1 AND s.slice = $2 AND s.owner = $3
      FOR NO KEY UPDATE OF s
      `,
      [run, slice, owner],
    );
    for (const held of rows) await takeBack(queue, client, held, 'its worker does not have the account', now);
  });
}
