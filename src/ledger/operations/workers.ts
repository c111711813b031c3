import type pg from 'pg';
import { workerLockKey, workerSessionName } from '../slices/worker-session.ts';

export type WorkerFigures = {
  /** Sessions of workers that run now. */
  readonly workers: number;
  readonly heldSlices: number;
  /** Slices of workers that ended; the next worker reclaims them. */
  readonly abandonedSlices: number;
};

/** By the sessions of workers, and the locks that they hold while they run. */
export async function readWorkers(pool: pg.Pool): Promise<WorkerFigures> {
  const { rows } = await pool.query<WorkerFigures>(
    `
    WITH held AS (
      SELECT worker, count(*) AS slices FROM slices WHERE state = 'held' GROUP BY worker
    ), locked AS (
      SELECT (classid::bigint << 32) | objid::bigint AS key
      FROM pg_locks
      WHERE locktype = 'advisory' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    )
    SELECT (SELECT count(*)::integer
            FROM pg_stat_activity
            WHERE application_name = $1 AND datname = current_database()) AS workers,
           coalesce(sum(slices), 0)::integer AS "heldSlices",
           coalesce(sum(slices) FILTER (WHERE ${workerLockKey('worker')} NOT IN (SELECT key FROM locked)), 0)::integer
             AS "abandonedSlices"
    FROM held
    `,
    [workerSessionName],
  );
  return rows[0] ?? { workers: 0, heldSlices: 0, abandonedSlices: 0 };
}
