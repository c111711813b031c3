import type { Transaction } from '../session.ts';

/**
 * Merges the outcomes of a done slice, one row a commit, into arrays in request order, so that one can be read alone,
 * and deletes proofs of requests that are accepted.
 */
export async function compactOutcomes(client: Transaction, run: string, slice: number): Promise<void> {
  await client.query({
    name: 'compact-outcomes',
    text: `
    INSERT INTO slice_outcomes (run_id, slice, base_at, finished_ms, took_ms, statuses, job_numbers)
    SELECT s.run_id, s.slice, g.base_at, g.finished_ms, g.took_ms, g.statuses, g.job_numbers
    FROM slices s
    CROSS JOIN LATERAL aggregated_outcomes(s.run_id, s.slice, s.first_request, s.claimed_to) g
    WHERE s.run_id = $1 AND s.slice = $2
      AND EXISTS (SELECT FROM outcomes b WHERE b.run_id = s.run_id AND b.slice = s.slice)
    ON CONFLICT DO NOTHING
    `,
    values: [run, slice],
  });
  await client.query({
    name: 'delete-outcomes',
    text: 'DELETE FROM outcomes WHERE run_id = $1 AND slice = $2',
    values: [run, slice],
  });
  await client.query({
    name: 'delete-accepted-proofs',
    text: `
    DELETE FROM early_proofs p
    USING slices s
    WHERE s.run_id = $1 AND s.slice = $2 AND p.run_id = $1 AND p.request BETWEEN s.first_request AND s.claimed_to
      AND NOT EXISTS (
        SELECT FROM requests q WHERE q.run_id = $1 AND q.request = p.request AND q.state <> 'accepted'
      )
    `,
    values: [run, slice],
  });
}
