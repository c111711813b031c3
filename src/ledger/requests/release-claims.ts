import type pg from 'pg';
import { reasonOf } from '../reasons.ts';
import { inTransaction } from '../session.ts';
import type { SliceRange } from './slice-range.ts';

/**
 * `sending → planned` for claimed requests whose owner got no answer and sent no byte, or `accepted` by a delivery
 * report. A new version of the slice refuses claims on their way.
 *
 * @param known requests that the owner is sending or has answers for
 * @returns the version; undefined if the slice has another owner
 */
export async function releaseUnacknowledgedClaims(
  pool: pg.Pool,
  { run, slice, first, last, owner }: SliceRange & { readonly owner: string },
  known: readonly number[],
  now: Date,
): Promise<number | undefined> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ version: number }>(
      `
      UPDATE slices s
      SET version = s.version + 1
      FROM (
        -- Lock order as in proveRequests: the slice first.
        SELECT run_id, slice FROM slices WHERE run_id = $1 AND slice = $2 AND owner = $3 FOR UPDATE
      ) held
      WHERE s.run_id = held.run_id AND s.slice = held.slice
      RETURNING s.version
      `,
      [run, slice, owner],
    );
    const [fenced] = rows;
    if (!fenced) return undefined;
    await client.query(
      `
      WITH unanswered AS (
        UPDATE requests
        SET state = CASE WHEN reported THEN 'accepted' ELSE 'planned' END,
            reason = CASE WHEN reported THEN ${reasonOf('reported')} ELSE reason END,
            owner = NULL, updated_at = $6
        WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending' AND owner = $4
          AND request <> ALL ($5::integer[])
        RETURNING request, attempts
      )
      UPDATE attempts a
      SET finished_at = $6, verdict = 'released', detail = ${reasonOf('claim_unanswered')}
      FROM unanswered u
      WHERE a.run_id = $1 AND a.request = u.request AND a.attempt = u.attempts
      `,
      [run, first, last, owner, known, now],
    );
    return fenced.version;
  });
}
