import type { Transaction } from '../session.ts';

/** The slices of a run that is being planned; nothing of them is in the entries yet. */
export async function openBilling(client: Transaction, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO billing_slices (run_id, slice, open)
    SELECT run_id, slice, true
    FROM slices
    WHERE run_id = $1 AND phase = 'sending'
    `,
    [run],
  );
}

/** SQL to join: the slice that has the request of a row. */
export const sliceOf = (row: string): string => `LATERAL (
      SELECT slice, state
      FROM slices
      WHERE run_id = ${row}.run_id AND first_request <= ${row}.request
      ORDER BY first_request DESC
      LIMIT 1
    )`;

/**
 * SQL: a statement that notes settled requests that change, so that their slices are booked anew. It goes into the statement
 * that changes them. The slice of what is not settled is open anyway.
 *
 * @param requests SQL: a table with `run_id` and `request`
 */
export function openSlices(requests: string): string {
  return `
    INSERT INTO billing_openings (run_id, request)
    SELECT run_id, request
    FROM ${requests} AS changed`;
}
