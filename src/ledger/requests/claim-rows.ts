import type pg from 'pg';
import { removeDestinations } from '../../domain/destinations.ts';
import type { Destinations, Envelope } from '../../domain/message.ts';
import { moveOutcomesToLastAttempt } from '../billing/changes.ts';
import { comparedAddress } from '../compared-address.ts';
import { type ClaimFence, fenceValues, mayClaim } from '../location/location.ts';
import { reasonOf } from '../reasons.ts';
import { inTransaction } from '../session.ts';
import { type HashKey, hashedAddress, hashKeyMatches, requireHashKey } from '../suppressions/hash.ts';
import type { SliceRange } from './read-contents.ts';

/** A request that only this owner can send now. */
export type ClaimedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly attempt: number;
  readonly envelope: Envelope;
  readonly destinations: Destinations;
};

export type CancelledRequest = { readonly request: number; readonly recipients: number };

export type RowsClaim = SliceRange & {
  readonly owner: string;
  /** The version of the owner's last change of the slice, plus one. */
  readonly version: number;
  /** No request before it is planned. */
  readonly from: number;
  readonly limit: number;
};

/** `refused`: another owner has the slice, or `mayClaim` forbids it. Both lists are empty if nothing is left. */
export type ClaimedRows = {
  readonly kind: 'granted' | 'refused';
  readonly claimed: readonly ClaimedRequest[];
  readonly cancelled: readonly CancelledRequest[];
};

type DbClaimedRequest = Envelope & {
  readonly request: number;
  readonly message_id: string;
  readonly attempts: number;
  readonly size: number;
  readonly addresses: string;
  readonly destinations: string | null;
  /** 1-based positions of suppressed recipients. */
  readonly suppressed_positions: readonly number[];
};

type DbCancelledRequest = {
  /** Null if nothing was left to claim. */
  readonly request: number | null;
  readonly recipients: number;
  readonly message_id: null;
};

/**
 * `planned → sending` for the lowest requests that have rows. They and their attempts are committed on return, so the
 * first byte can be sent (rule 1).
 *
 * The first attempt omits suppressed recipients and makes them `cancelled`; later ones omit none, because every
 * attempt carries the same bytes (rule 3). A request whose recipients are all suppressed is `cancelled`, or in doubt
 * if it waited for a resend.
 *
 * @throws InputError if suppressions are stored as hashes of another key
 */
export async function claimRows(
  pool: pg.Pool,
  claim: RowsClaim,
  {
    now,
    key,
    fence,
  }: { readonly now: Date; readonly key: HashKey | null; readonly fence: ClaimFence | null },
): Promise<ClaimedRows> {
  const rows = await inTransaction(pool, async (client) => {
    const { rows } = await client.query<DbClaimedRequest | DbCancelledRequest>({
      name: 'claim-rows',
      text: claimStatement,
      values: [
        claim.run,
        claim.owner,
        claim.limit,
        now,
        claim.from,
        claim.last,
        claim.slice,
        key?.inner ?? null,
        key?.outer ?? null,
        ...fenceValues(fence),
        claim.version,
      ],
    });
    const claimed = rows.filter((row) => row.message_id !== null);
    await moveOutcomesToLastAttempt(
      client,
      claimed.map(({ request, attempts }) => ({ run: claim.run, request, attempt: attempts })),
    );
    return rows;
  });
  if (rows.length === 0) await requireHashKey(pool, key);
  return {
    kind: rows.length === 0 ? 'refused' : 'granted',
    claimed: rows.flatMap((row) => (row.message_id === null ? [] : [toClaimedRequest(row)])),
    cancelled: rows.flatMap((row) =>
      row.message_id === null && row.request !== null
        ? [{ request: row.request, recipients: row.recipients }]
        : [],
    ),
  };
}

/** SQL: those of `checked` whose address is in a table. */
const suppressedBy = (table: 'suppressions' | 'hashed_suppressions', isSame: string): string => `
    SELECT c.request, c.attempts, c.position
    FROM (
      SELECT channel, coalesce(suppression_account, account) AS suppression_account FROM runs WHERE run_id = $1
    ) r
    CROSS JOIN checked c
    CROSS JOIN LATERAL (
      SELECT
      FROM ${table}
      WHERE channel = r.channel AND ${isSame} AND account IN ('', r.suppression_account)
        AND (sub_account = '' OR sub_account = c.sub_account)
      LIMIT 1
    ) s`;

// All parts of a statement see the state before it, so suppressed recipients come from `suppressed`, not from
// `cancelled_recipient`. The plan is cached while tables are small; LIMIT 1 and the run in the batch keep it from
// reading all suppressions.
const claimStatement = `
  WITH held AS MATERIALIZED (
    SELECT run_id
    FROM slices
    WHERE run_id = $1 AND slice = $7 AND owner = $2 AND version = $15::integer - 1
      AND EXISTS (SELECT FROM runs WHERE run_id = $1 AND state = 'running')
      AND ${hashKeyMatches('$8', '$9')}
      AND ${mayClaim(10)}
    FOR NO KEY UPDATE
  ), batch AS MATERIALIZED (
    SELECT run_id, request, envelope, attempts, recipients, resends > 0 AS sent_before
    FROM requests
    WHERE run_id = $1 AND request BETWEEN $5 AND $6 AND state = 'planned'
      AND EXISTS (SELECT FROM held)
    ORDER BY request
    LIMIT $3
    FOR UPDATE SKIP LOCKED
  ), checked AS MATERIALIZED (
    SELECT b.request, b.attempts, r.position, ${comparedAddress('r.address')} AS address, e.sub_account
    FROM batch b
    JOIN envelopes e ON e.run_id = b.run_id AND e.envelope = b.envelope
    CROSS JOIN LATERAL recipients_between(b.run_id, b.request, b.request) r
    WHERE (SELECT true
           FROM suppressions
           WHERE channel = (SELECT channel FROM runs WHERE run_id = $1)
           ORDER BY address
           LIMIT 1)
       OR EXISTS (SELECT FROM hashed_suppressions
                  WHERE channel = (SELECT channel FROM runs WHERE run_id = $1))
  ), suppressed AS MATERIALIZED (
${suppressedBy('suppressions', 'address = c.address')}
    UNION${suppressedBy('hashed_suppressions', `hash = ${hashedAddress('r.channel', 'c.address', '$8', '$9')}`)}
    WHERE EXISTS (SELECT FROM hashed_suppressions)
  ), emptied AS MATERIALIZED (
    SELECT b.run_id, b.request, b.sent_before
    FROM batch b
    WHERE b.request IN (SELECT request FROM suppressed)
      AND b.recipients = (
        SELECT count(*)
        FROM (
          SELECT position FROM suppressed s WHERE s.request = b.request
          UNION
          SELECT position FROM recipient_outcomes o
          WHERE o.run_id = $1 AND o.request = b.request AND o.outcome = 'cancelled'
        ) AS excluded
      )
  ), cancelled_recipient AS (
    INSERT INTO recipient_outcomes (run_id, request, position, outcome, reported_at)
    SELECT $1, request, position, 'cancelled', $4
    FROM suppressed
    WHERE attempts = 0 OR request IN (SELECT request FROM emptied WHERE NOT sent_before)
    ON CONFLICT DO NOTHING
  ), cancelled AS (
    UPDATE requests q
    SET state = CASE WHEN sent_before THEN 'in_doubt' ELSE 'cancelled' END, updated_at = $4,
        reason = CASE WHEN sent_before
                   THEN ${reasonOf('all_suppressed_before_resend')}
                   ELSE ${reasonOf('all_suppressed')}
                 END
    FROM emptied
    WHERE q.run_id = emptied.run_id AND q.request = emptied.request
  ), fenced AS (
    UPDATE slices s
    SET version = $15, claimed_at = $4
    FROM held
    WHERE s.run_id = $1 AND s.slice = $7
    RETURNING s.slice
  ), claimed AS (
    UPDATE requests q
    SET state = 'sending', owner = $2, attempts = q.attempts + 1, updated_at = $4
    FROM batch
    WHERE q.run_id = batch.run_id AND q.request = batch.request AND q.request NOT IN (SELECT request FROM emptied)
    RETURNING q.run_id, q.request, q.envelope, q.attempts
  ), attempt AS (
    INSERT INTO attempts (run_id, request, attempt, owner, started_at)
    SELECT $1, request, attempts, $2, $4
    FROM claimed
  )
  SELECT b.request, b.recipients, message_id(u.run_number, u.message_key, c.request) AS message_id, c.attempts, e.fields, e.keypads, e.files, e.audio,
         cardinality(k.addresses) AS size, CAST(array_to_json(k.addresses, true) AS text) AS addresses, k.destinations,
         ARRAY(
           SELECT position::integer FROM suppressed s WHERE s.request = c.request AND s.attempts = 0
           UNION ALL
           SELECT position FROM recipient_outcomes o
           WHERE o.run_id = $1 AND o.request = c.request AND o.outcome = 'cancelled'
         ) AS suppressed_positions
  FROM fenced
  LEFT JOIN batch b ON true
  LEFT JOIN claimed c ON c.request = b.request
  LEFT JOIN runs u ON u.run_id = c.run_id
  LEFT JOIN envelopes e ON e.run_id = c.run_id AND e.envelope = c.envelope
  LEFT JOIN LATERAL chunks_between(c.run_id, c.request, c.request) k ON true
  ORDER BY b.request
`;

function toClaimedRequest(row: DbClaimedRequest): ClaimedRequest {
  const all = { count: row.size, addresses: row.addresses, fields: row.destinations };
  const suppressed = new Set(row.suppressed_positions.map((position) => position - 1));
  return {
    request: row.request,
    messageId: row.message_id,
    attempt: row.attempts,
    envelope: { fields: row.fields, keypads: row.keypads, files: row.files, audio: row.audio },
    destinations: suppressed.size === 0 ? all : removeDestinations(all, suppressed),
  };
}
