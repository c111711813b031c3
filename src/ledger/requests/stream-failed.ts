import type pg from 'pg';
import type { RequestReason } from '../../domain/reasons.ts';
import { type FailedState, failedStates } from '../../domain/runs.ts';
import { requestReason, type Stored } from '../reasons.ts';

export type FailedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly state: FailedState;
  /** The service's own words, or what happened instead of an answer. */
  readonly reason: RequestReason | null;
  /** Of the last answered attempt. */
  readonly httpStatus: number | null;
  readonly attempts: number;
  readonly firstAt: Date | null;
  /** When its last attempt ended, or began if the end is unknown. */
  readonly lastAt: Date | null;
  /** Without suppressed recipients; 0 for a divided request. */
  readonly recipients: number;
  readonly subAccount: string | null;
  readonly department: string | null;
  readonly chargeCode: string | null;
};

const requestsPerPage = 2_000;

/**
 * Reads requests in pages, each as the ledger is when it is read: no request is in two of them. All of these requests
 * have rows.
 */
export async function* streamFailedRequests(
  pool: pg.Pool,
  run: string,
  pageSize = requestsPerPage,
): AsyncGenerator<readonly FailedRequest[], void, undefined> {
  let after = 0;
  for (;;) {
    const { rows } = await pool.query<Stored<FailedRequest>>(
      `
      SELECT q.request, message_id(r.run_number, r.message_key, q.request) AS "messageId", q.state, q.reason, q.attempts,
             tried.http_status AS "httpStatus", tried.first_at AS "firstAt", tried.last_at AS "lastAt",
             q.recipients - q.suppressed AS recipients,
             e.sub_account AS "subAccount", e.department, e.charge_code AS "chargeCode"
      FROM (
        SELECT *
        FROM requests
        WHERE run_id = $1 AND request > $2 AND state = ANY ($3::text[])
        ORDER BY request
        LIMIT $4
      ) q
      JOIN runs r USING (run_id)
      JOIN envelopes e USING (run_id, envelope)
      CROSS JOIN LATERAL (
        SELECT min(started_at) AS first_at, max(coalesce(finished_at, started_at)) AS last_at,
               (array_agg(http_status ORDER BY attempt DESC) FILTER (WHERE http_status IS NOT NULL))[1] AS http_status
        FROM attempts_between(q.run_id, q.request, q.request)
      ) tried
      ORDER BY q.request
      `,
      [run, after, failedStates, pageSize],
    );
    if (rows.length > 0) yield rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.request ?? 0;
  }
}
