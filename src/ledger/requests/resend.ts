import type pg from 'pg';
import { inTransaction } from '../session.ts';

/**
 * `in_doubt → planned` for a run that may send twice rather than not at all: requests that were sent again less often
 * than `resends`. They keep their MessageID and bytes. The slices they are in are to be worked again. Nothing is sent again
 * of a run that is not running: it may be cancelled, and then nobody would ever look at them.
 *
 * @param owner who holds the run's requests in doubt
 * @returns how many there were
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
    const { rows } = await client.query<{ requests: number }>(
      `
      WITH again AS (
        UPDATE requests
        SET state = 'planned', resends = resends + 1, updated_at = $4
        WHERE run_id = $1 AND state = 'in_doubt' AND resends < $3
          AND EXISTS (SELECT FROM slices WHERE run_id = $1 AND slice = 0 AND owner = $2)
        RETURNING request
      ), reopened AS (
        UPDATE slices s
        SET state = 'waiting', settled = settled - a.requests, not_accepted = not_accepted - a.requests
        FROM (
          SELECT slice, count(*) AS requests
          FROM again
          JOIN slices ON run_id = $1 AND slice > 0 AND request BETWEEN first_request AND last_request
          GROUP BY slice
        ) a
        WHERE s.run_id = $1 AND s.slice = a.slice AND s.state = 'done'
      )
      SELECT count(*)::integer AS requests FROM again
      `,
      [run, owner, resends, now],
    );
    return rows[0]?.requests ?? 0;
  });
}
