import type pg from 'pg';
import { inTransaction } from '../connection.ts';
import type { SliceRange } from '../requests/orphans.ts';
import { type HeldSlice, lockTakings } from './acquire.ts';
import { queueName, type SliceQueue, throughClient } from './queue.ts';

/**
 * Puts a slice back into the queue that was acquired under this owner without hearing of it, because the connection broke
 * as that was committed.
 */
export async function returnUnheard(queue: SliceQueue, pool: pg.Pool, owner: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockTakings(client);
    const { rows } = await client.query<{ run: string; slice: number; job: string }>(
      `SELECT run_id AS run, slice, job FROM slices WHERE state = 'held' AND owner = $1`,
      [owner],
    );
    for (const { run, slice, job } of rows) {
      await putBack(queue, client, { run, slice, owner, job }, 'the answer of the ledger was lost');
    }
  });
}

/** Puts a slice of which nothing was claimed back into the queue, for a worker that has its account. */
export async function returnSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  { run, slice, owner, job }: HeldSlice,
): Promise<void> {
  await inTransaction(pool, (client) =>
    putBack(queue, client, { run, slice, owner, job }, 'its worker does not have the account'),
  );
}

async function putBack(
  queue: SliceQueue,
  client: pg.ClientBase,
  {
    run,
    slice,
    owner,
    job,
  }: Pick<SliceRange, 'run' | 'slice'> & { readonly owner: string; readonly job: string | HeldSlice['job'] },
  message: string,
): Promise<void> {
  const { rowCount } = await client.query(
    `
    UPDATE slices SET state = 'queued', worker = NULL, owner = NULL
    WHERE run_id = $1 AND slice = $2 AND owner = $3
    `,
    [run, slice, owner],
  );
  if (rowCount === 0) return;
  await queue.fail(queueName, job, { message }, { db: throughClient(client) });
}
