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
      SELECT slice
      FROM slices
      WHERE run_id = ${row}.run_id AND first_request <= ${row}.request
      ORDER BY first_request DESC
      LIMIT 1
    )`;
