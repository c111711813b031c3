import type pg from 'pg';

/** What an account does now. */
export type AccountWork = {
  readonly account: string;
  /** Unfinished runs by state. */
  readonly running: number;
  readonly paused: number;
  readonly planned: number;
  /** Requests of running runs that have an outcome; its growth is the speed. */
  readonly settled: number;
  /** Requests that workers have claimed, without a recorded outcome: in flight, or about to be. */
  readonly claimed: number;
  /** Slices that workers hold. */
  readonly heldSlices: number;
  /** The service refuses everything since then; null: it does not. */
  readonly refusedSince: Date | null;
  readonly retryAt: Date | null;
  readonly refusal: string | null;
  /** The last status look-up; null: none yet. */
  readonly lookedUpAt: Date | null;
};

/** Accounts with unfinished runs (`runs_unfinished`), or with limits, or that the service refuses. */
export async function listAccountWork(pool: pg.Pool): Promise<AccountWork[]> {
  const { rows } = await pool.query<AccountWork>(
    `
    WITH run AS (
      SELECT r.account, r.run_id, r.state, coalesce(sum(s.settled), 0) AS settled,
             count(*) FILTER (WHERE s.state = 'held') AS held,
             sum(greatest(0, s.claimed_to - s.first_request + 1 - s.settled)) FILTER (WHERE s.state = 'held') AS claimed
      FROM runs r
      LEFT JOIN slices s USING (run_id)
      WHERE r.state IN ('planned', 'running', 'paused')
      GROUP BY r.run_id
    ), work AS (
      SELECT account, count(*) FILTER (WHERE state = 'running') AS running,
             count(*) FILTER (WHERE state = 'paused') AS paused, count(*) FILTER (WHERE state = 'planned') AS planned,
             sum(settled) FILTER (WHERE state = 'running') AS settled, sum(held) AS held, sum(claimed) AS claimed
      FROM run
      GROUP BY account
    )
    SELECT account, coalesce(running, 0)::integer AS running, coalesce(paused, 0)::integer AS paused,
           coalesce(planned, 0)::integer AS planned, coalesce(settled, 0)::float8 AS settled,
           coalesce(held, 0)::integer AS "heldSlices", coalesce(claimed, 0)::integer AS claimed, b.opened_at AS "refusedSince", b.retry_at AS "retryAt",
           b.reason AS refusal,
           CASE WHEN isfinite(l.status_until) THEN l.status_until - interval '1 s' END AS "lookedUpAt"
    FROM work
    FULL JOIN account_breakers b USING (account)
    FULL JOIN rate_limits l USING (account)
    ORDER BY account
    `,
  );
  return rows;
}
