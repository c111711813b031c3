import type { Transaction } from '../session.ts';

/** Requests of a block; the triggers of `requests` know it too (migration `billing`). */
export const requestsInBlock = 4_096;

/** SQL: the first and the last request of a row's `block`. */
export function rangeOfBlock(row: string): string {
  return `${row}.block * ${requestsInBlock}, ${row}.block * ${requestsInBlock} + ${requestsInBlock - 1}`;
}

/** The blocks of a run that is being planned, by its slices; nothing of it is in the entries yet. */
export async function openBilling(client: Transaction, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO billing_blocks (run_id, block, open)
    SELECT $1, block, true
    FROM (SELECT max(last_request) AS highest FROM slices WHERE run_id = $1 AND slice > 0) slices,
         generate_series(0, highest / ${requestsInBlock}) AS block
    `,
    [run],
  );
}
