import type pg from 'pg';
import { recordReopenedRequests } from '../billing/changes.ts';
import { inTransaction } from '../session.ts';
import { reopenSlices } from '../slice-states/transitions.ts';

/**
 * `in_doubt → planned` for a run that may send twice rather than not at all: requests that were sent again less often
 * than `resends`. They keep their MessageID and bytes. The slices they are in are to be worked again. Nothing is sent again
 * of a run that is not running: it may be cancelled, and then nobody would ever look at them.
 *
 * @param owner of the phase in which the run's doubts are settled
 */
export async function resendDoubts(
  pool: pg.Pool,
  run: string,
  owner: string,
  resends: number,
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
      WITH again AS (
        UPDATE requests
        SET state = 'planned', resends = resends + 1, updated_at = $4
        WHERE run_id = $1 AND state = 'in_doubt' AND resends < $3
          AND EXISTS (SELECT FROM slices WHERE run_id = $1 AND phase = 'settling doubts' AND owner = $2)
        RETURNING run_id, request
      ), opened AS (
        ${recordReopenedRequests('again')}
      )
      SELECT request FROM again
      `,
      [run, owner, resends, now],
    );
    const requests = rows.map(({ request }) => request);
    await reopenSlices(client, run, requests);
    return requests.length;
  });
}
