import type pg from 'pg';
import type { Connection } from '../session.ts';
import { isWorkerSession, workerLockKey, workerProcess } from '../slices/worker-session.ts';

export type WorkerFigures = {
  /** Sessions of workers that run now. */
  readonly workers: number;
  readonly heldSlices: number;
  /** Slices of workers that ended; the next worker reclaims them. */
  readonly abandonedSlices: number;
};

/** SQL: the keys of advisory locks, and the sessions that hold them. */
const lockedKeys = `
      SELECT pid, (classid::bigint << 32) | objid::bigint AS key
      FROM pg_locks
      WHERE locktype = 'advisory' AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Finds workers by their sessions, and the locks that they hold while they run. */
export async function readWorkers(client: Connection): Promise<WorkerFigures> {
  const { rows } = await client.query<WorkerFigures>(
    `
    WITH held AS (
      SELECT worker, count(*) AS slices FROM slices WHERE state = 'held' GROUP BY worker
    ), locked AS (${lockedKeys})
    SELECT (SELECT count(*)::integer
            FROM pg_stat_activity
            WHERE ${isWorkerSession} AND datname = current_database()) AS workers,
           coalesce(sum(slices), 0)::integer AS "heldSlices",
           coalesce(sum(slices) FILTER (WHERE ${workerLockKey('worker')} NOT IN (SELECT key FROM locked)), 0)::integer
             AS "abandonedSlices"
    FROM held
    `,
  );
  return rows[0] ?? { workers: 0, heldSlices: 0, abandonedSlices: 0 };
}

/** A worker, and what it holds. */
export type ListedWorker = {
  /** Of its session in Postgres; null for one that has ended, whose slices wait to be reclaimed. */
  readonly session: number | null;
  /** Its machine and process, such as `desk/4711`; null for one that has ended. */
  readonly process: string | null;
  readonly since: Date | null;
  /** Where it runs; null on the machine of Postgres, or without the right to read it. */
  readonly address: string | null;
  readonly run: string | null;
  readonly account: string | null;
  readonly slices: number;
  /** When it last claimed requests of them. */
  readonly claimedAt: Date | null;
};

/** Lists a line for each worker and run, at most `limit`. */
export async function listWorkers(pool: pg.Pool, limit: number): Promise<ListedWorker[]> {
  const { rows } = await pool.query<ListedWorker>(
    `
    WITH held AS (
      SELECT ${workerLockKey('worker')} AS key, run_id, count(*)::integer AS slices,
             max(claimed_at) AS claimed_at
      FROM slices
      WHERE state = 'held'
      GROUP BY worker, run_id
    ), locked AS (${lockedKeys}), session AS (
      SELECT pid, ${workerProcess} AS process, backend_start, host(client_addr) AS address
      FROM pg_stat_activity
      WHERE ${isWorkerSession} AND datname = current_database()
    ), worker AS (
      SELECT s.pid, s.process, s.backend_start, s.address, h.run_id, h.slices, h.claimed_at
      FROM session s
      LEFT JOIN (held h JOIN locked l USING (key)) USING (pid)
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, h.run_id, h.slices, h.claimed_at
      FROM held h
      WHERE h.key NOT IN (SELECT key FROM locked)
    )
    SELECT w.pid AS session, w.process, w.backend_start AS since, w.address, w.run_id AS run, r.account,
           coalesce(w.slices, 0) AS slices, w.claimed_at AS "claimedAt"
    FROM worker w
    LEFT JOIN runs r USING (run_id)
    ORDER BY w.backend_start NULLS FIRST, w.pid, w.run_id
    LIMIT $1
    `,
    [limit],
  );
  return rows;
}
