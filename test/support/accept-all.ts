import type pg from 'pg';

/** Marks all requests of a planned run accepted, as dispatch does: none has its own row. */
export async function acceptAll(pool: pg.Pool, run: string, at = new Date()): Promise<void> {
  await pool.query(
    `
    WITH sent AS (
      UPDATE slices
      SET state = 'done', job = NULL, worker = NULL, owner = NULL, claimed_to = last_request, claimed_at = $2,
          accepted = last_request - first_request + 1,
          accepted_recipients = (
            SELECT sum(cardinality(positions))
            FROM contents c
            WHERE c.run_id = $1 AND c.first_request BETWEEN slices.first_request AND slices.last_request
          )
      WHERE run_id = $1 AND phase = 'sending'
      RETURNING run_id, slice, accepted
    )
    INSERT INTO slice_outcomes (run_id, slice, base_at, finished_ms, took_ms)
    SELECT run_id, slice, $2, array_fill(0, ARRAY[accepted]), array_fill(5, ARRAY[accepted])
    FROM sent
    `,
    [run, at],
  );
}
