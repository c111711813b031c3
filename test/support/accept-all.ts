import type pg from 'pg';

/** As if the service had just accepted all requests of a planned run, as dispatch notes them: none has a row of its own. */
export async function acceptAll(pool: pg.Pool, run: string, at = new Date()): Promise<void> {
  await pool.query(
    `
    WITH sent AS (
      UPDATE slices
      SET state = 'done', job = NULL, worker = NULL, owner = NULL, claimed_to = last_request, claimed_at = $2,
          settled = last_request - first_request + 1
      WHERE run_id = $1 AND slice > 0
      RETURNING run_id, slice, first_request, last_request
    )
    INSERT INTO outcomes (run_id, slice, version, recorded_at, requests, ages_ms, took_ms)
    SELECT run_id, slice, request / 64 + 1, $2, array_agg(request), array_agg(0), array_agg(5)
    FROM sent
    CROSS JOIN LATERAL generate_series(first_request, last_request) AS request
    GROUP BY run_id, slice, request / 64
    `,
    [run, at],
  );
}
