import type pg from 'pg';
import type { Envelope } from '../../domain/message.ts';
import { type ClaimFence, fenceValues, mayClaim } from '../place/place.ts';
import { type HashKey, hashedAddress, keyFits } from '../suppressions/hash.ts';
import type { ClaimedRequest, SliceClaim } from './claimed.ts';
import { destinationsOf } from './destinations.ts';

export type FreshClaim = {
  readonly claimed: readonly ClaimedRequest[];
  /** How many were looked at, and not claimed. */
  readonly left: number;
};

type DbFreshRequest = {
  readonly place: number;
  readonly planned: number;
} & (
  | {
      readonly request: number;
      readonly message_id: string;
      readonly addresses: readonly string[];
      /** A JSON array: the destination fields other than `Recipient` of each address; null: none has any. */
      readonly destinations: string | null;
    }
  | { readonly request: null }
) &
  (Envelope | { readonly fields: null });

/**
 * `planned → sending` for the ordinary case, in many slices at once: of the lowest planned requests of each, takes those
 * that were never tried and of which nobody is suppressed.
 *
 * @returns a claim for each slice, in their order
 */
export async function claimFreshRequests(
  pool: pg.Pool,
  claims: readonly SliceClaim[],
  now: Date,
  key: HashKey | null,
  fence: ClaimFence | null,
): Promise<FreshClaim[]> {
  // What another transaction is changing is passed by: all slices of a process wait for this statement, and that of a run
  // which is being cancelled takes its time.
  // Suppressions are looked up an address at a time (LIMIT 1): no plan can read all of them to join them.
  // An envelope comes with the first of the requests in a row that share it: they are numbered by it.
  const { rows } = await pool.query<DbFreshRequest>({
    name: 'claim-fresh-requests',
    text: `
    WITH asked AS MATERIALIZED (
      SELECT a.*, r.run_number, r.message_key, r.channel, coalesce(r.suppressions_of, r.account) AS suppressions_of,
             EXISTS (SELECT FROM suppressions s WHERE s.channel = r.channel) AS has_suppressed,
             EXISTS (SELECT FROM hashed_suppressions s WHERE s.channel = r.channel) AS has_hashed
      FROM unnest($1::text[], $2::integer[], $3::uuid[], $4::integer[], $5::integer[], $6::integer[]) WITH ORDINALITY
        AS a (run_id, slice, owner, first, last, most, place)
      JOIN slices s ON s.run_id = a.run_id AND s.slice = a.slice AND s.owner = a.owner
      JOIN runs r ON r.run_id = a.run_id AND r.state = 'running'
      WHERE ${mayClaim(10)}
    ), batch AS MATERIALIZED (
      SELECT a.run_id, a.run_number, a.message_key, a.owner, a.channel, a.suppressions_of, a.has_suppressed, a.has_hashed, a.place, q.request
      FROM asked a
      CROSS JOIN LATERAL (
        SELECT request
        FROM requests
        WHERE run_id = a.run_id AND request BETWEEN a.first AND a.last AND state = 'planned'
        ORDER BY request
        LIMIT a.most
        FOR UPDATE SKIP LOCKED
      ) q
    ), claimed AS (
      UPDATE requests q
      SET state = 'sending', owner = b.owner, attempts = 1, updated_at = $7
      FROM batch b
      WHERE q.run_id = b.run_id AND q.request = b.request AND q.state = 'planned' AND q.attempts = 0
        AND (NOT b.has_suppressed OR NOT EXISTS (
          SELECT
          FROM recipients_between(b.run_id, b.request, b.request) r
          CROSS JOIN LATERAL (
            SELECT
            FROM suppressions
            WHERE channel = b.channel AND address = lower(r.address COLLATE "C") AND account IN ('', b.suppressions_of)
            LIMIT 1
          ) s
        ))
        AND (NOT b.has_hashed OR (${keyFits('$8', '$9')} AND NOT EXISTS (
          SELECT
          FROM recipients_between(b.run_id, b.request, b.request) r
          CROSS JOIN LATERAL (
            SELECT
            FROM hashed_suppressions
            WHERE channel = b.channel AND hash = ${hashedAddress('b.channel', 'lower(r.address COLLATE "C")', '$8', '$9')}
              AND account IN ('', b.suppressions_of)
            LIMIT 1
          ) s
        )))
      RETURNING b.place, q.run_id, q.request, message_id(b.run_number, b.message_key, q.request) AS message_id,
                q.envelope, q.owner
    ), attempt AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at)
      SELECT run_id, request, 1, owner, $7
      FROM claimed
    )
    SELECT CAST(n.place - 1 AS integer) AS place, n.planned, c.request, c.message_id, e.fields, e.keypads, e.files,
           e.audio, array_to_json(k.addresses) AS addresses, k.destinations
    FROM (SELECT place, CAST(count(*) AS integer) AS planned FROM batch GROUP BY place) n
    LEFT JOIN (
      SELECT *, lag(run_id) OVER ordered = run_id AND lag(envelope) OVER ordered = envelope AS is_repeated
      FROM claimed
      WINDOW ordered AS (ORDER BY place, request)
    ) c USING (place)
    LEFT JOIN envelopes e ON e.run_id = c.run_id AND e.envelope = c.envelope AND c.is_repeated IS NOT TRUE
    LEFT JOIN LATERAL chunks_between(c.run_id, c.request, c.request) k ON true
    ORDER BY n.place, c.request
    `,
    values: [
      claims.map(({ run }) => run),
      claims.map(({ slice }) => slice),
      claims.map(({ owner }) => owner),
      claims.map(({ from }) => from),
      claims.map(({ last }) => last),
      claims.map(({ limit }) => limit),
      now,
      key?.inner ?? null,
      key?.outer ?? null,
      ...fenceValues(fence),
    ],
  });
  return readClaims(rows, claims.length);
}

function readClaims(rows: readonly DbFreshRequest[], count: number): FreshClaim[] {
  const claims = Array.from({ length: count }, () => ({ claimed: [] as ClaimedRequest[], planned: 0 }));
  let envelope: Envelope = { fields: {}, keypads: [], files: [], audio: {} };
  for (const row of rows) {
    const claim = claims[row.place];
    if (!claim) continue;
    claim.planned = row.planned;
    if (row.request === null) continue;
    if (row.fields !== null) {
      const { fields, keypads, files, audio } = row;
      envelope = { fields, keypads, files, audio };
    }
    claim.claimed.push({
      request: row.request,
      messageId: row.message_id,
      attempt: 1,
      envelope,
      destinations: destinationsOf(row.addresses, row.destinations),
    });
  }
  return claims.map(({ claimed, planned }) => ({ claimed, left: planned - claimed.length }));
}
