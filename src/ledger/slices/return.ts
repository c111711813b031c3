import type pg from 'pg';
import { inTransaction } from '../connection.ts';
import type { HeldSlice } from './acquire.ts';
import { queueName, type SliceQueue, throughClient } from './queue.ts';

/** Puts a slice of which nothing was claimed back into the queue, for a worker that has its account. */
export async function returnSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  { run, slice, owner, job }: HeldSlice,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `
      UPDATE slices SET state = 'queued', worker = NULL, owner = NULL
      WHERE run_id = $1 AND slice = $2 AND owner = $3
      `,
      [run, slice, owner],
    );
    if (rowCount === 0) return;
    const output = { message: 'its worker does not have the account' };
    await queue.fail(queueName, [job], output, { db: throughClient(client) });
  });
}
