import type pg from 'pg';
import type { RunState } from '../../domain.ts';
import { inTransaction } from '../connection.ts';
import { cancelPlanned } from '../requests/cancel.ts';
import { doubtOrphanedRequests } from '../requests/orphans.ts';
import { queueName, type SliceQueue, throughClient } from './queue.ts';

/** Held by a worker's session for as long as it lives. `worker` is SQL. */
export const workerLockKey = (worker: string): string =>
  `hashtextextended('volley worker ' || CAST(${worker} AS text), 0)`;

type DbOrphan = {
  readonly run_id: string;
  readonly slice: number;
  readonly first_request: number;
  readonly last_request: number;
  readonly job: string;
  readonly run_state: RunState;
};

/**
 * Takes the slices of dead workers from them: those whose lock is free, because their session ended with them. Right
 * after a restart of Postgres nobody is taken for dead, since every session ended with that. A run that somebody begins,
 * stops or ends at this very moment is left for the next time: whether its slices belong in the queue is being decided.
 *
 * @param self never taken for dead by itself
 * @returns how many slices there were
 */
export async function reapDeadWorkers(
  queue: SliceQueue,
  pool: pg.Pool,
  self: string | null,
  now: Date,
): Promise<number> {
  const { rows: held } = await pool.query('SELECT FROM slices WHERE state = $1 LIMIT 1', ['held']);
  if (held.length === 0) return 0;
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<DbOrphan>(
      `
      WITH dead AS MATERIALIZED (
        SELECT worker
        FROM (SELECT DISTINCT worker FROM slices WHERE state = 'held' AND worker IS DISTINCT FROM $1::uuid) w
        WHERE pg_postmaster_start_time() < clock_timestamp() - interval '2 seconds'
          AND pg_try_advisory_xact_lock(${workerLockKey('worker')})
      )
      SELECT s.run_id, s.slice, s.first_request, s.last_request, s.job, r.state AS run_state
      FROM slices s
      JOIN dead USING (worker)
      JOIN runs r USING (run_id)
      WHERE s.state = 'held'
      FOR NO KEY UPDATE OF r, s SKIP LOCKED
      `,
      [self],
    );
    for (const orphan of rows) await takeBack(queue, client, orphan, now);
    return rows.length;
  });
}

/**
 * Into the queue again, with what it was sending in doubt. Out of it where its run no longer runs, and done where that was
 * cancelled.
 */
async function takeBack(
  queue: SliceQueue,
  client: pg.ClientBase,
  { run_id: run, slice, first_request: first, last_request: last, job, run_state }: DbOrphan,
  now: Date,
): Promise<void> {
  const running = run_state === 'planned' || run_state === 'running';
  const cancelled = run_state === 'cancelled';
  await doubtOrphanedRequests(client, { run, slice, first, last }, now);
  // What the dead one gave back after the run was cancelled.
  if (cancelled) await cancelPlanned(client, run, now, { first, last });
  await client.query(
    `
    UPDATE slices
    SET worker = NULL, owner = NULL, state = CASE WHEN $3 THEN 'queued' WHEN $4 THEN 'done' ELSE 'waiting' END,
        job = CASE WHEN $3 THEN job END
    WHERE run_id = $1 AND slice = $2
    `,
    [run, slice, running, cancelled],
  );
  const db = throughClient(client);
  if (running) await queue.fail(queueName, job, { message: 'its worker is dead' }, { db });
  else await queue.complete(queueName, job, null, { db });
}
