import type pg from 'pg';
import { inTransaction } from '../session.ts';
import type { HeldSlice } from './acquire.ts';
import { lockTakings, type SliceQueue } from './queue.ts';
import { type DbTakenSlice, takeBack } from './take-back.ts';

/** Gives a slice of which nothing was claimed back, for a worker that has its account. */
export async function returnSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  held: HeldSlice,
  now: Date,
): Promise<void> {
  await inTransaction(pool, (client) =>
    giveBack(queue, client, held, 'its worker does not have the account', now),
  );
}

/**
 * Gives a slice back that was acquired under this owner without hearing of it, because the connection broke as that was
 * committed.
 */
export async function returnUnheard(
  queue: SliceQueue,
  pool: pg.Pool,
  owner: string,
  now: Date,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Whoever was in the middle of taking it has ended by then.
    await lockTakings(client);
    const { rows } = await client.query<{ run: string; slice: number }>(
      `SELECT run_id AS run, slice FROM slices WHERE state = 'held' AND owner = $1`,
      [owner],
    );
    for (const row of rows) {
      await giveBack(queue, client, { ...row, owner }, 'the answer of the ledger was lost', now);
    }
  });
}

async function giveBack(
  queue: SliceQueue,
  client: pg.ClientBase,
  { run, slice, owner }: Pick<HeldSlice, 'run' | 'slice' | 'owner'>,
  message: string,
  now: Date,
): Promise<void> {
  // Whoever changes slices takes the run first.
  await client.query('SELECT FROM runs WHERE run_id = $1 FOR NO KEY UPDATE', [run]);
  const { rows } = await client.query<DbTakenSlice>(
    `
    SELECT s.run_id, s.slice, s.first_request, s.last_request, s.job, s.owner, r.state AS run_state
    FROM slices s
    JOIN runs r USING (run_id)
    WHERE s.run_id = $1 AND s.slice = $2 AND s.owner = $3
    FOR NO KEY UPDATE OF s
    `,
    [run, slice, owner],
  );
  for (const held of rows) await takeBack(queue, client, held, message, now);
}
