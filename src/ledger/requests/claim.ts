import type pg from 'pg';
import type { Destination, Envelope } from '../../domain.ts';

/** A request that this owner alone may send now. */
export type ClaimedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly attempt: number;
  readonly envelope: Envelope;
  readonly destinations: readonly Destination[];
};

/** A request that was not claimed, because all its recipients are suppressed by now. */
export type CancelledRequest = { readonly request: number; readonly recipients: number };

/** Nothing is left to claim when both are empty. */
export type Claim = {
  readonly claimed: readonly ClaimedRequest[];
  readonly cancelled: readonly CancelledRequest[];
};

type DbClaimRow =
  | (Envelope & {
      readonly request: number;
      readonly recipients: number;
      readonly message_id: string;
      readonly attempts: number;
      readonly destinations: Destination[];
    })
  | { readonly request: number; readonly recipients: number; readonly message_id: null };

/**
 * `planned → sending`: takes the lowest planned requests of a run and writes their attempts. When this returns, both
 * are committed, and the first byte may leave (rule 1).
 *
 * Recipients that are suppressed by now are left out of a request's first attempt, and are `cancelled`. After it the
 * request never shrinks, because every attempt carries the same bytes (rule 3). A request that nobody is left of is
 * `cancelled` whenever it is taken: that it is planned says that the service does not have it.
 */
export async function claimRequests(
  pool: pg.Pool,
  claim: { readonly run: string; readonly owner: string; readonly limit: number; readonly now: Date },
): Promise<Claim> {
  // Every part of the statement sees the ledger as it was before it: what is left out is told by `suppressed`, never by
  // what `left_out` has written. Suppressions may be millions, and a plan that reads them all for one batch would be
  // ruinous: the list of addresses and the ORDER BY keep it to look-ups in their key, whatever the statistics say.
  // Where the channel has none at all, no recipient is looked at.
  const { rows } = await pool.query<DbClaimRow>(
    `
    WITH batch AS MATERIALIZED (
      SELECT request, envelope, attempts, recipients
      FROM requests
      WHERE run_id = $1 AND state = 'planned'
      ORDER BY request
      LIMIT $3
      FOR UPDATE SKIP LOCKED
    ), checked AS MATERIALIZED (
      SELECT r.request, r.position, r.address, e.sub_account, b.attempts
      FROM batch b
      JOIN envelopes e ON e.run_id = $1 AND e.envelope = b.envelope
      JOIN recipients r ON r.run_id = $1 AND r.request = b.request AND r.outcome IS NULL
      WHERE (SELECT true
             FROM suppressions
             WHERE channel = (SELECT channel FROM runs WHERE run_id = $1)
             ORDER BY address
             LIMIT 1)
    ), suppressed AS MATERIALIZED (
      SELECT DISTINCT c.request, c.position, c.attempts
      FROM suppressions s
      JOIN checked c ON c.address = s.address AND (s.sub_account = '' OR s.sub_account = c.sub_account)
      WHERE s.channel = (SELECT channel FROM runs WHERE run_id = $1)
        AND s.address = ANY (ARRAY(SELECT address FROM checked))
    ), gone AS MATERIALIZED (
      SELECT s.request
      FROM suppressed s
      GROUP BY s.request
      HAVING count(*) = (
        SELECT count(*)
        FROM recipients r
        WHERE r.run_id = $1 AND r.request = s.request AND r.outcome IS DISTINCT FROM 'cancelled'
      )
    ), left_out AS (
      UPDATE recipients r
      SET outcome = 'cancelled', result = 'suppressed since the run was planned'
      FROM suppressed s
      WHERE r.run_id = $1 AND r.request = s.request AND r.position = s.position AND r.outcome IS NULL
        AND (s.attempts = 0 OR s.request IN (SELECT request FROM gone))
    ), cancelled AS (
      UPDATE requests q
      SET state = 'cancelled', reason = 'every recipient suppressed since the run was planned', updated_at = $4
      FROM gone
      WHERE q.run_id = $1 AND q.request = gone.request
    ), claimed AS (
      UPDATE requests q
      SET state = 'sending', owner = $2, attempts = q.attempts + 1, updated_at = $4
      FROM batch
      WHERE q.run_id = $1 AND q.request = batch.request AND q.request NOT IN (SELECT request FROM gone)
      RETURNING q.request, q.message_id, q.envelope, q.attempts
    ), attempt AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at)
      SELECT $1, request, attempts, $2, $4
      FROM claimed
    )
    SELECT b.request, b.recipients, c.message_id, c.attempts, e.fields, e.keypads, e.files, e.audio,
           (SELECT jsonb_agg(r.destination || jsonb_build_object('Recipient', r.address) ORDER BY r.position)
            FROM recipients r
            WHERE r.run_id = $1 AND r.request = c.request AND r.outcome IS DISTINCT FROM 'cancelled'
              AND (b.attempts > 0 OR (r.request, r.position) NOT IN (SELECT request, position FROM suppressed))
           ) AS destinations
    FROM batch b
    LEFT JOIN claimed c USING (request)
    LEFT JOIN envelopes e ON e.run_id = $1 AND e.envelope = c.envelope
    ORDER BY b.request
    `,
    [claim.run, claim.owner, claim.limit, claim.now],
  );
  return {
    claimed: rows.flatMap((row): ClaimedRequest[] =>
      row.message_id === null
        ? []
        : [
            {
              request: row.request,
              messageId: row.message_id,
              attempt: row.attempts,
              envelope: { fields: row.fields, keypads: row.keypads, files: row.files, audio: row.audio },
              destinations: row.destinations,
            },
          ],
    ),
    cancelled: rows.flatMap((row): CancelledRequest[] =>
      row.message_id === null ? [{ request: row.request, recipients: row.recipients }] : [],
    ),
  };
}
