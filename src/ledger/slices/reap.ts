import type pg from 'pg';
import { inTransaction } from '../session.ts';
import { isCalm } from './calm.ts';
import { lockTakings, queueName, type SliceQueue } from './queue.ts';
import { type DbTakenSlice, takeBack } from './take-back.ts';

/** Held by a worker's session for as long as it lives. `worker` is SQL. */
export const workerLockKey = (worker: string): string =>
  `hashtextextended('volley worker ' || CAST(${worker} AS text), 0)`;

/**
 * Takes the slices of dead workers from them: those whose lock is free, because their session ended with them. A run
 * that somebody begins, stops or ends at this very moment is left for the next time: whether its slices belong in the
 * queue is being decided.
 *
 * @param self never taken for dead by itself
 * @param now asked when they are found dead: until then they may have begun more
 * @returns how many slices there were
 */
export async function reapDeadWorkers(
  queue: SliceQueue,
  pool: pg.Pool,
  self: string | null,
  now: () => Date,
): Promise<number> {
  const { rows: held } = await pool.query('SELECT FROM slices WHERE state = $1 LIMIT 1', ['held']);
  if (held.length === 0 || !(await isCalm(pool))) return 0;
  return inTransaction(pool, async (client) => {
    await lockTakings(client);
    const { rows } = await client.query<DbTakenSlice>(
      `
      WITH dead AS MATERIALIZED (
        SELECT worker
        FROM (SELECT DISTINCT worker FROM slices WHERE state = 'held' AND worker IS DISTINCT FROM $1::uuid) w
        WHERE pg_try_advisory_xact_lock(${workerLockKey('worker')})
      )
      SELECT s.run_id, s.slice, s.first_request, s.last_request, s.job, s.owner, r.state AS run_state
      FROM slices s
      JOIN dead USING (worker)
      JOIN runs r USING (run_id)
      WHERE s.state = 'held'
      FOR NO KEY UPDATE OF r, s SKIP LOCKED
      `,
      [self],
    );
    const foundAt = now();
    for (const orphan of rows) await takeBack(queue, client, orphan, 'its worker is dead', foundAt);
    return rows.length;
  });
}

/**
 * Takes slices of which there was no sign of life for too long out of their workers' hands: they can be acquired again,
 * and `acquireSlice` settles what was being sent of them.
 */
export async function takeSilentSlices(queue: SliceQueue, pool: pg.Pool): Promise<void> {
  if (await isCalm(pool)) await queue.supervise(queueName);
}
