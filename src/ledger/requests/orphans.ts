import type pg from 'pg';

/**
 * `sending → in_doubt` for requests whose owner is gone: the caller holds the run's dispatch lock, so nobody else can
 * be sending them (rule 2). They may have reached the service, so they are never `planned` again.
 *
 * @returns how many there were
 */
export async function doubtOrphanedRequests(pool: pg.Pool, run: string, now: Date): Promise<number> {
  const { rowCount } = await pool.query(
    `
    WITH orphaned AS (
      UPDATE requests
      SET state = 'in_doubt', owner = NULL, updated_at = $2,
          reason = 'the process that was sending it ended before the answer was recorded'
      WHERE run_id = $1 AND state = 'sending'
      RETURNING request, attempts, reason
    ), finished AS (
      UPDATE attempts a
      SET finished_at = $2, verdict = 'in_doubt', detail = o.reason
      FROM orphaned o
      WHERE a.run_id = $1 AND a.request = o.request AND a.attempt = o.attempts AND a.finished_at IS NULL
    )
    SELECT request FROM orphaned
    `,
    [run, now],
  );
  return rowCount ?? 0;
}
