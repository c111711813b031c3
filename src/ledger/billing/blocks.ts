import type pg from 'pg';

/** Requests of a block; the triggers of `requests` know it too (migration `billing`). */
export const requestsInBlock = 4_096;

/** The blocks of a run that is being planned; nothing of it is in the entries yet. */
export async function openBilling(client: pg.ClientBase, run: string): Promise<void> {
  await client.query(
    `
    INSERT INTO billing_blocks (run_id, block, open)
    SELECT $1, block, true
    FROM (SELECT max(request) AS highest FROM requests WHERE run_id = $1) requests,
         generate_series(0, highest / ${requestsInBlock}) AS block
    `,
    [run],
  );
}
