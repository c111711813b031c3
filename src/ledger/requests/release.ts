import type pg from 'pg';
import type { RequestReason } from '../../domain/reasons.ts';
import { moveOutcomesToLastAttempt } from '../billing/changes.ts';
import { reasonOf, reasonValue, resentReason } from '../reasons.ts';
import { inTransaction, type Transaction } from '../session.ts';
import type { OwnedSlice } from '../slice-states/transitions.ts';
import type { SliceRange } from './read-contents.ts';

/*
 * Requests that the service provably did not take: tried again, given back, cancelled or failed. Resent ones become in doubt
 * again: the service may have them.
 */

/**
 * Commits the next attempt before its first byte is sent (rule 1), with the same MessageID and bytes (rule 3). Can be
 * repeated.
 *
 * @returns false if the owner no longer holds the request and must not send it
 */
export async function startNextAttempt(
  pool: pg.Pool,
  retry: {
    readonly run: string;
    readonly owner: string;
    readonly request: number;
    readonly attempt: number;
    readonly httpStatus: number | null;
    readonly detail: RequestReason | null;
    readonly finishedAt: Date;
    readonly now: Date;
  },
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ isNew: boolean }>(
      `
    WITH finished AS (
      UPDATE attempts
      SET finished_at = $5, verdict = 'retry', http_status = $6, detail = $7
      WHERE run_id = $1 AND request = $3 AND attempt = $4 AND finished_at IS NULL
    ), held AS (
      UPDATE requests
      SET attempts = $4 + 1, updated_at = $8
      WHERE run_id = $1 AND request = $3 AND state = 'sending' AND owner = $2 AND attempts IN ($4, $4 + 1)
      RETURNING request
    ), started AS (
      INSERT INTO attempts (run_id, request, attempt, owner, started_at)
      SELECT $1, request, $4 + 1, $2, $8
      FROM held
      ON CONFLICT DO NOTHING
      RETURNING request
    )
    SELECT EXISTS (SELECT FROM started) AS "isNew" FROM held
    `,
      [
        retry.run,
        retry.owner,
        retry.request,
        retry.attempt,
        retry.finishedAt,
        retry.httpStatus,
        reasonValue(retry.detail),
        retry.now,
      ],
    );
    const [held] = rows;
    if (held?.isNew) await moveOutcomesToLastAttempt(client, [{ ...retry, attempt: retry.attempt + 1 }]);
    return held !== undefined;
  });
}

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

/** `planned → cancelled`, or back to in doubt if the request waits for a resend: the service may have it. */
export async function cancelPlanned(
  client: Transaction,
  run: string,
  now: Date,
  range: { readonly first: number; readonly last: number } | null,
): Promise<void> {
  await client.query(
    `
    UPDATE requests
    SET state = CASE WHEN resends > 0 THEN 'in_doubt' ELSE 'cancelled' END,
        reason = CASE WHEN resends > 0 THEN ${reasonOf('run_cancelled_before_resend')} ELSE ${reasonOf('run_cancelled')} END,
        updated_at = $2
    WHERE run_id = $1 AND state = 'planned' AND ($3::integer IS NULL OR request BETWEEN $3 AND $4)
    `,
    [run, now, range?.first ?? null, range?.last ?? null],
  );
}

/** SQL: attempts of `requests q` that the service refused or never received. */
const refusals = `
  FROM attempts a
  WHERE a.run_id = q.run_id AND a.request = q.request AND a.verdict IN ('retry', 'released')
    AND a.detail ->> 'kind' IS DISTINCT FROM 'withheld'`;

/**
 * `planned → failed` for requests that were refused before a pause for `service_refuses` and again after it, so that
 * they do not pause the run for ever. A resent request becomes in doubt.
 */
export async function failRefused(
  pool: pg.Pool,
  { run, slice, owner }: OwnedSlice,
  now: Date,
): Promise<number> {
  const { rowCount } = await pool.query(
    `
    WITH held AS MATERIALIZED (
      SELECT s.run_id, s.first_request, s.last_request, resumed.at AS resumed_at
      FROM slices s
      CROSS JOIN LATERAL (
        SELECT changed_at AS at, change FROM run_states WHERE run_id = $1 AND state = 'running' ORDER BY change DESC LIMIT 1
      ) resumed
      CROSS JOIN LATERAL (
        SELECT reason FROM run_states WHERE run_id = $1 AND change < resumed.change ORDER BY change DESC LIMIT 1
      ) paused
      WHERE s.run_id = $1 AND s.slice = $2 AND s.owner = $3 AND paused.reason ->> 'kind' = 'service_refuses'
      FOR UPDATE OF s
    ), refused AS MATERIALIZED (
      SELECT q.request, (SELECT a.detail ${refusals} ORDER BY a.attempt DESC LIMIT 1) AS words
      FROM held h
      JOIN requests q ON q.run_id = $1 AND q.request BETWEEN h.first_request AND h.last_request
      WHERE q.state = 'planned'
        AND EXISTS (SELECT ${refusals} AND a.started_at < h.resumed_at)
        AND EXISTS (SELECT ${refusals} AND a.started_at >= h.resumed_at)
      FOR UPDATE OF q
    )
    UPDATE requests q
    SET state = CASE WHEN resends > 0 THEN 'in_doubt' ELSE 'failed' END,
        reason = CASE WHEN resends > 0
                   THEN ${resentReason("'failed'", 'r.words')}
                   ELSE r.words
                 END,
        updated_at = $4
    FROM refused r
    WHERE q.run_id = $1 AND q.request = r.request
    `,
    [run, slice, owner, now],
  );
  return rowCount ?? 0;
}
