import type pg from 'pg';
import type { Destination, Envelope, MessageFields } from '../../domain.ts';

/** A request that this owner alone may send now. */
export type ClaimedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly attempt: number;
  readonly envelope: Envelope;
  readonly destinations: readonly Destination[];
};

type DbClaimedRequest = Envelope & {
  readonly request: number;
  readonly message_id: string;
  readonly attempts: number;
  readonly addresses: readonly string[];
  /** A JSON array: the destination fields other than `Recipient` of each address. */
  readonly destinations: string;
};

/**
 * `planned → sending`: takes the lowest planned requests of a run and writes their attempts. When this returns, both
 * are committed, and the first byte may leave (rule 1).
 */
export async function claimRequests(
  pool: pg.Pool,
  claim: { readonly run: string; readonly owner: string; readonly limit: number; readonly now: Date },
): Promise<ClaimedRequest[]> {
  const { rows } = await pool.query<DbClaimedRequest>(
    `
    WITH batch AS MATERIALIZED (
      SELECT request
      FROM requests
      WHERE run_id = $1 AND state = 'planned'
      ORDER BY request
      LIMIT $3
      FOR UPDATE SKIP LOCKED
    ), claimed AS (
      UPDATE requests q
      SET state = 'sending', owner = $2, attempts = q.attempts + 1, updated_at = $4
      FROM batch
      WHERE q.run_id = $1 AND q.request = batch.request
      RETURNING q.request, q.message_id, q.envelope, q.attempts
    ), attempt AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at)
      SELECT $1, request, attempts, $2, $4
      FROM claimed
    )
    SELECT c.request, c.message_id, c.attempts, e.fields, e.keypads, e.files, e.audio, k.addresses, k.destinations
    FROM claimed c
    JOIN envelopes e ON e.run_id = $1 AND e.envelope = c.envelope
    JOIN chunks k ON k.run_id = $1 AND k.request = c.request
    ORDER BY c.request
    `,
    [claim.run, claim.owner, claim.limit, claim.now],
  );
  return rows.map((row) => ({
    request: row.request,
    messageId: row.message_id,
    attempt: row.attempts,
    envelope: { fields: row.fields, keypads: row.keypads, files: row.files, audio: row.audio },
    destinations: destinationsOf(row),
  }));
}

function destinationsOf({ addresses, destinations }: DbClaimedRequest): Destination[] {
  const fields: readonly MessageFields[] = JSON.parse(destinations);
  return addresses.map((address, index) => ({ Recipient: address, ...fields[index] }));
}
