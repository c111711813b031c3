import type pg from 'pg';
import { inTransaction, type Transaction } from '../session.ts';
import type { SliceRange } from './slice-range.ts';

/*
 * Gives ordinary requests rows of their own, from which on these say what becomes of them. What a request was until then
 * is not changed by it.
 */

/** SQL: whether a report has proved, before there was a row, that the service has the request `o`. */
const isProvenEarly =
  'EXISTS (SELECT FROM early_proofs p WHERE p.run_id = o.run_id AND p.request = o.request)';

/** An ordinary request whose first attempt has begun. */
export type StartedRequest = { readonly request: number; readonly startedAt: Date };

/** What the owner of a slice has claimed, and cannot note as accepted. */
export type StartedRequests = {
  readonly run: string;
  readonly slice: number;
  readonly owner: string;
  readonly started: readonly StartedRequest[];
};

/**
 * Rows for requests that their owner is sending, with their first attempts. Nothing is written where the slice is another
 * owner's by now: the worker that took it over has written them. Can be done twice.
 */
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

/**
 * A report that comes before the answer is noted by a transaction that holds the key of the slice (`proveAccepted`). The
 * statement after this one sees it, or its transaction sees the rows.
 */
async function lockSlice(client: Transaction, run: string, slice: number): Promise<void> {
  await client.query('SELECT FROM slices WHERE run_id = $1 AND slice = $2 FOR UPDATE', [run, slice]);
}

/** SQL: whether fewer requests of a slice were noted than were claimed. Each of them is looked at only then. */
const hasUnrecorded = `(
  SELECT s.claimed_to - s.first_request + 1
         > (SELECT coalesce(sum(cardinality(b.requests)), 0) FROM outcomes b WHERE b.run_id = $1 AND b.slice = $5)
           + (SELECT count(*) FROM requests q WHERE q.run_id = $1 AND q.request BETWEEN $2 AND s.claimed_to)
  FROM slices s
  WHERE s.run_id = $1 AND s.slice = $5
)`;

/**
 * Rows for requests that were claimed and of which no outcome was noted: their owner is gone, and may have sent them. The
 * caller's transaction holds the slice, and says next what becomes of them.
 */
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

/**
 * Rows for planned requests that are not to be claimed with those around them, by the owner of their slice.
 *
 * @param requests numbers that its claims do not cover yet
 */
export async function addPlannedRows(
  pool: pg.Pool,
  { run, slice, owner }: { readonly run: string; readonly slice: number; readonly owner: string },
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

/**
 * Rows for all that is planned of a run, so that something can become of each; none of a run that is over. Workers that hold
 * its slices claim nothing more of them.
 */
export async function addAllPlannedRows(client: Transaction, run: string): Promise<void> {
  // What is claimed at this moment is seen by the statement after this, or refused after that.
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

/** The lowest request of a slice that is planned, also one that another transaction is changing; none: `undefined`. */
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
