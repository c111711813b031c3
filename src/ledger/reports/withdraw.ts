import type pg from 'pg';

/**
 * Takes back what these reports decided when they were read before: they say nothing final now, of nobody that is known.
 * Of a run that was purged nobody is known any more, so what was decided stays.
 * The recipients' other final reports are put into the queue again, so that one of them decides.
 */
export async function withdrawOutcomes(
  client: pg.ClientBase,
  reports: readonly string[],
  now: Date,
): Promise<void> {
  if (reports.length === 0) return;
  await client.query(
    `
    WITH decided AS MATERIALIZED (
      SELECT o.run_id, o.request, o.position
      FROM reports k
      JOIN runs r ON r.run_id = k.run_id AND r.purged_at IS NULL
      JOIN recipient_outcomes o
        ON o.run_id = k.run_id AND o.request = k.request AND o.position = k.position AND o.report_id = k.report_id
      WHERE k.report_id = ANY ($1::bigint[]) AND k.state = 'applied'
      ORDER BY o.run_id, o.request, o.position
      FOR UPDATE OF o
    ), withdrawn AS (
      DELETE FROM recipient_outcomes WHERE (run_id, request, position) IN (SELECT * FROM decided)
    )
    -- An entry each: they are few, and their order decides.
    INSERT INTO inbox_queue (due_at, report_ids, bytes)
    SELECT $2, ARRAY[k.report_id], octet_length(i.body)
    FROM decided
    JOIN reports k USING (run_id, request, position)
    JOIN inbox i USING (report_id)
    WHERE k.outcome <> 'pending' AND k.report_id <> ALL ($1::bigint[])
    ORDER BY k.report_id
    `,
    [reports, now],
  );
}
