import type pg from 'pg';

/** SQL: attempts of `requests q` that the service refused or never received. */
const refusals = `
  FROM attempts a
  WHERE a.run_id = q.run_id AND a.request = q.request AND a.verdict IN ('retry', 'released')
    AND a.detail ->> 'kind' IS DISTINCT FROM 'withheld'`;

/**
 * `planned → failed` for requests that were refused before a pause for `service_refuses` and again after it, so that
 * they do not pause the run for ever. A resent request becomes in doubt.
 */
export async function failRefused(
  pool: pg.Pool,
  { run, slice, owner }: { readonly run: string; readonly slice: number; readonly owner: string },
  now: Date,
): Promise<number> {
  const { rowCount } = await pool.query(
    `
    WITH held AS MATERIALIZED (
      SELECT s.run_id, s.first_request, s.last_request, resumed.at AS resumed_at
      FROM slices s
      CROSS JOIN LATERAL (
        SELECT changed_at AS at, change FROM run_states WHERE run_id = $1 AND state = 'running' ORDER BY change DESC LIMIT 1
      ) resumed
      CROSS JOIN LATERAL (
        SELECT reason FROM run_states WHERE run_id = $1 AND change < resumed.change ORDER BY change DESC LIMIT 1
      ) paused
      WHERE s.run_id = $1 AND s.slice = $2 AND s.owner = $3 AND paused.reason ->> 'kind' = 'service_refuses'
      FOR UPDATE OF s
    ), refused AS MATERIALIZED (
      SELECT q.request, (SELECT a.detail ${refusals} ORDER BY a.attempt DESC LIMIT 1) AS words
      FROM held h
      JOIN requests q ON q.run_id = $1 AND q.request BETWEEN h.first_request AND h.last_request
      WHERE q.state = 'planned'
        AND EXISTS (SELECT ${refusals} AND a.started_at < h.resumed_at)
        AND EXISTS (SELECT ${refusals} AND a.started_at >= h.resumed_at)
      FOR UPDATE OF q
    )
    UPDATE requests q
    SET state = CASE WHEN resends > 0 THEN 'in_doubt' ELSE 'failed' END,
        reason = CASE WHEN resends > 0
                   THEN jsonb_build_object('kind', 'resent', 'state', 'failed', 'words', r.words)
                   ELSE r.words
                 END,
        updated_at = $4
    FROM refused r
    WHERE q.run_id = $1 AND q.request = r.request
    `,
    [run, slice, owner, now],
  );
  return rowCount ?? 0;
}
