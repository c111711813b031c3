import type { Transaction } from '../session.ts';

/** Rows of a run that are few enough to be added up at each look. */
const fewRows = 100;

/**
 * Replaces rows of `run_counts` by their sums, of those of the runs that have many. A concurrent fold takes other rows,
 * and readers see the rows or their sums.
 *
 * @param few rows that may stay
 */
export async function foldRunCounts(
  client: Transaction,
  runs: readonly string[],
  few = fewRows,
): Promise<void> {
  await client.query({
    name: 'fold-run-counts',
    text: `
      WITH many AS (
        SELECT run_id
        FROM run_counts
        WHERE run_id = ANY ($1) AND NOT folded
        GROUP BY run_id
        HAVING count(*) > $2
      ), added AS (
        DELETE FROM run_counts c USING many WHERE c.run_id = many.run_id AND NOT c.folded RETURNING c.*
      )
      INSERT INTO run_counts AS c (run_id, counted, requests, recipients, folded)
      SELECT run_id, counted, sum(requests), sum(recipients), true
      FROM added
      GROUP BY run_id, counted
      ORDER BY run_id, counted
      ON CONFLICT (run_id, counted) WHERE folded DO UPDATE
      SET requests = c.requests + excluded.requests, recipients = c.recipients + excluded.recipients
    `,
    values: [runs, few],
  });
  // Of a doubt that is resolved, nothing stays.
  await client.query({
    name: 'delete-empty-counts',
    text: 'DELETE FROM run_counts WHERE run_id = ANY ($1) AND folded AND requests = 0 AND recipients = 0 AND counted <> $2',
    values: [runs, 'all'],
  });
}
