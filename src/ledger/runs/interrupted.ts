import type pg from 'pg';

/**
 * Runs that were begun and are not at their end though nobody wanted that, the oldest first: their process was killed, or
 * stopped from outside. Some of them may be in other workers' hands. Not those that somebody paused, that a refusal did, or
 * that wait for approval.
 */
export async function listInterruptedRuns(
  pool: pg.Pool,
): Promise<readonly { readonly run: string; readonly account: string }[]> {
  const { rows } = await pool.query<{ run: string; account: string }>(
    `
    SELECT run_id AS run, account
    FROM runs r
    WHERE state = 'running' OR (state = 'paused' AND state_reason ->> 'kind' = 'interrupted')
       OR (state = 'planned'
           AND NOT EXISTS (SELECT FROM approvals a WHERE a.run_id = r.run_id AND a.approved_at IS NULL))
    ORDER BY created_at, run_id
    `,
  );
  return rows;
}
