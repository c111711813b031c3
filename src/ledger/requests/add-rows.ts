import type pg from 'pg';
import { inTransaction, type Transaction } from '../session.ts';
import type { OwnedSlice } from '../slice-states/transitions.ts';
import { type RequestKey, requestKeys } from './by-message-id.ts';
import type { SliceRange } from './read-contents.ts';

/* Gives ordinary requests rows, which then hold their states. The states do not change. */

/** SQL: whether request `o` was proved before it had a row. */
const isProvenEarly =
  'EXISTS (SELECT FROM early_proofs p WHERE p.run_id = o.run_id AND p.request = o.request)';

export type StartedRequest = { readonly request: number; readonly startedAt: Date };

/** Claimed requests that their owner cannot record as accepted. */
type StartedRequests = OwnedSlice & { readonly started: readonly StartedRequest[] };

/** Adds rows and first attempts. Does nothing if the slice has another owner, or the rows exist. */
export async function addSendingRows(
  pool: pg.Pool,
  { run, slice, owner, started }: StartedRequests,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockSlice(client, run, slice);
    await client.query(
      `
    WITH held AS MATERIALIZED (
      SELECT run_id FROM slices WHERE run_id = $1 AND slice = $2 AND owner = $3
    ), added AS (
      INSERT INTO requests (run_id, request, envelope, recipients, state, owner, attempts, updated_at, reported)
      SELECT o.run_id, o.request, o.envelope, o.recipients, 'sending', $3, 1, b.started_at,
             ${isProvenEarly}
      FROM held h
      CROSS JOIN unnest($4::integer[], $5::timestamptz[]) AS b (request, started_at)
      CROSS JOIN LATERAL ordinary_requests_between(h.run_id, b.request, b.request) AS o
      ON CONFLICT DO NOTHING
      RETURNING run_id, request, owner, updated_at
    )
    INSERT INTO attempts (run_id, request, attempt, owner, started_at)
    SELECT run_id, request, 1, owner, updated_at
    FROM added
    ON CONFLICT DO NOTHING
    `,
      [run, slice, owner, started.map(({ request }) => request), started.map(({ startedAt }) => startedAt)],
    );
  });
}

/** Makes `proveRequests` wait, or waits for it: it locks the slice too. */
async function lockSlice(client: Transaction, run: string, slice: number): Promise<void> {
  await client.query('SELECT FROM slices WHERE run_id = $1 AND slice = $2 FOR UPDATE', [run, slice]);
}

/** SQL: whether a slice has fewer outcomes than claims, so that its requests must be read. */
const hasUnrecorded = `(
  SELECT s.claimed_to - s.first_request + 1
         > (SELECT coalesce(sum(cardinality(b.requests)), 0) FROM outcomes b WHERE b.run_id = $1 AND b.slice = $5)
           + (SELECT count(*) FROM requests q WHERE q.run_id = $1 AND q.request BETWEEN $2 AND s.claimed_to)
  FROM slices s
  WHERE s.run_id = $1 AND s.slice = $5
)`;

/** Adds rows for claimed requests without an outcome. The caller holds the slice and decides their states. */
export async function addUnrecordedRows(
  client: Transaction,
  { run, slice, first, last }: SliceRange,
  owner: string,
): Promise<void> {
  await lockSlice(client, run, slice);
  await client.query(
    `
    WITH added AS (
      INSERT INTO requests (run_id, request, envelope, recipients, state, owner, attempts, updated_at, reported)
      SELECT o.run_id, o.request, o.envelope, o.recipients, 'sending', $4, 1, o.updated_at,
             ${isProvenEarly}
      FROM ordinary_requests_between($1, $2, $3) AS o
      WHERE o.state = 'sending' AND ${hasUnrecorded}
      RETURNING run_id, request, owner, updated_at
    )
    INSERT INTO attempts (run_id, request, attempt, owner, started_at)
    SELECT run_id, request, 1, owner, updated_at
    FROM added
    `,
    [run, first, last, owner, slice],
  );
}

/** Adds rows for planned requests that no claim covers, so that their owner can claim them one by one. */
export async function addPlannedRows(
  pool: pg.Pool,
  { run, slice, owner }: OwnedSlice,
  requests: readonly number[],
): Promise<void> {
  await pool.query({
    name: 'add-planned-rows',
    text: `
    WITH held AS MATERIALIZED (
      SELECT run_id, claimed_to
      FROM slices
      WHERE run_id = $1 AND slice = $2 AND owner = $3
      FOR NO KEY UPDATE
    )
    INSERT INTO requests (run_id, request, envelope, recipients, reported)
    SELECT o.run_id, o.request, o.envelope, o.recipients, ${isProvenEarly}
    FROM held h
    CROSS JOIN unnest($4::integer[]) AS p (request)
    CROSS JOIN LATERAL ordinary_requests_between(h.run_id, p.request, p.request) AS o
    WHERE p.request > h.claimed_to AND o.state = 'planned'
    ON CONFLICT DO NOTHING
    `,
    values: [run, slice, owner, requests],
  });
}

/** Adds rows for all planned requests of a run that is not over, so that no worker can claim a range of it. */
export async function addAllPlannedRows(client: Transaction, run: string): Promise<void> {
  // A concurrent claim commits before this lock, and the next statement sees it, or is refused.
  await client.query('SELECT FROM slices WHERE run_id = $1 ORDER BY slice FOR UPDATE', [run]);
  await client.query(
    `
    INSERT INTO requests (run_id, request, envelope, recipients, reported)
    SELECT o.run_id, o.request, o.envelope, o.recipients, ${isProvenEarly}
    FROM ordinary_requests_between($1, 1, 2147483647) AS o
    WHERE o.state = 'planned'
    `,
    [run],
  );
  await client.query(
    `
    UPDATE slices
    SET claimed_to = last_request
    WHERE run_id = $1 AND claimed_to < last_request
      AND EXISTS (SELECT FROM runs WHERE run_id = $1 AND state IN ('planned', 'running', 'paused'))
    `,
    [run],
  );
}

/**
 * Adds rows for accepted requests of done slices. Their outcomes move from the arrays of their slices into the rows.
 */
export async function addAcceptedRows(client: Transaction, requests: readonly RequestKey[]): Promise<void> {
  await client.query(
    `
    WITH accepted AS MATERIALIZED (
      SELECT o.*, s.first_request, coalesce(w.owner, gen_random_uuid()) AS last_owner
      FROM ${requestKeys.table('k')}
      CROSS JOIN LATERAL (
        SELECT * FROM ordinary_requests_between(k.run_id, k.request, k.request) LIMIT 1
      ) o
      JOIN slices s ON s.run_id = o.run_id AND s.slice = o.slice
      LEFT JOIN LATERAL (
        SELECT owner FROM slice_owners
        WHERE run_id = o.run_id AND slice = o.slice
        ORDER BY version DESC
        LIMIT 1
      ) w ON true
      WHERE o.state = 'accepted'
    ), added AS (
      INSERT INTO requests (run_id, request, envelope, recipients, state, reason, attempts, updated_at)
      SELECT run_id, request, envelope, recipients, state, reason, 1, updated_at
      FROM accepted
      ORDER BY run_id, request
      ON CONFLICT DO NOTHING
    ), tried AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, http_status, detail)
      SELECT run_id, request, 1, last_owner, finished_at - took, finished_at, 'accepted', http_status, reason
      FROM accepted
      ON CONFLICT DO NOTHING
    )
    UPDATE slice_outcomes k
    SET took_ms = ARRAY(
      SELECT CASE WHEN CAST(n.ordinal AS integer) <> ALL (m.indexes) THEN n.took END
      FROM unnest(k.took_ms) WITH ORDINALITY AS n (took, ordinal)
      ORDER BY n.ordinal
    )
    FROM (
      SELECT run_id, slice, array_agg(request - first_request + 1) AS indexes FROM accepted GROUP BY run_id, slice
    ) m
    WHERE k.run_id = m.run_id AND k.slice = m.slice
    `,
    requestKeys.values(requests),
  );
}

/** Includes requests that another transaction is changing. */
export async function findFirstPlanned(
  pool: pg.Pool,
  { run, first, last }: SliceRange,
): Promise<number | undefined> {
  const { rows } = await pool.query<{ request: number }>({
    name: 'lowest-planned',
    text: `
    SELECT request
    FROM requests
    WHERE run_id = $1 AND request BETWEEN $2 AND $3 AND state = 'planned'
    ORDER BY request
    LIMIT 1
    `,
    values: [run, first, last],
  });
  return rows[0]?.request;
}
