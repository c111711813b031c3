import type pg from 'pg';
import { recordReopenedRequests } from '../billing/changes.ts';
import { inTransaction } from '../session.ts';
import { reopenSlices } from '../slice-states/transitions.ts';

/**
 * `in_doubt → planned` for requests that were resent fewer than `resends` times, with the same MessageID and bytes.
 * Their slices wait for a worker again. Only in a running run: in a cancelled one they would stay planned.
 *
 * @param owner of the slice that settles doubts
 */
export async function resendDoubts(
  pool: pg.Pool,
  { run, owner, resends }: { readonly run: string; readonly owner: string; readonly resends: number },
  now: Date,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rowCount } = await client.query(
      `SELECT FROM runs WHERE run_id = $1 AND state = 'running' FOR NO KEY UPDATE`,
      [run],
    );
    if (rowCount === 0) return 0;
    const { rows } = await client.query<{ request: number }>(
      `
      WITH resent AS (
        UPDATE requests
        SET state = 'planned', resends = resends + 1, updated_at = $4
        WHERE run_id = $1 AND state = 'in_doubt' AND resends < $3
          AND EXISTS (SELECT FROM slices WHERE run_id = $1 AND phase = 'settling doubts' AND owner = $2)
        RETURNING run_id, request
      ), opened AS (
        ${recordReopenedRequests('resent')}
      )
      SELECT request FROM resent
      `,
      [run, owner, resends, now],
    );
    const requests = rows.map(({ request }) => request);
    await reopenSlices(client, run, requests);
    return requests.length;
  });
}
