import type pg from 'pg';
import type { SliceRange } from './orphans.ts';
import { reportProof } from './proof.ts';

/**
 * `sending → planned` for requests of a slice that its live holder claimed without hearing of it, because the connection
 * broke as the claim was committed: of those, no byte has left. What is proved to have been there before is accepted.
 *
 * @param known requests that the holder is sending, or has answers of
 */
export async function takeBackUnheard(
  pool: pg.Pool,
  { run, first, last }: SliceRange,
  owner: string,
  known: readonly number[],
  now: Date,
): Promise<void> {
  await pool.query(
    `
    WITH unheard AS (
      UPDATE requests
      SET state = CASE WHEN reported THEN 'accepted' ELSE 'planned' END,
          reason = CASE WHEN reported THEN '${reportProof}' ELSE reason END,
          owner = NULL, updated_at = $6
      WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'sending' AND owner = $4
        AND request <> ALL ($5::integer[])
      RETURNING request, attempts
    )
    UPDATE attempts a
    SET finished_at = $6, verdict = 'released', detail = 'the answer of the ledger was lost before it was sent'
    FROM unheard u
    WHERE a.run_id = $1 AND a.request = u.request AND a.attempt = u.attempts
    `,
    [run, first, last, owner, known, now],
  );
}
