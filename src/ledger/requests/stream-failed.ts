import type { RequestReason } from '../../domain/reasons.ts';
import type { RequestState } from '../../domain/runs.ts';
import { streamRows } from '../cursor.ts';
import { requestReason, type Stored } from '../reasons.ts';
import { countSuppressedOf } from '../request-rows.ts';
import type { Transaction } from '../session.ts';

export const failedStates = ['rejected', 'failed', 'in_doubt', 'abandoned'] as const satisfies RequestState[];

export type FailedRequest = {
  readonly request: number;
  readonly messageId: string;
  readonly state: (typeof failedStates)[number];
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

const batchSize = 2_000;

export async function* streamFailedRequests(
  client: Transaction,
  run: string,
): AsyncGenerator<readonly FailedRequest[], void, undefined> {
  const sql = `
    SELECT q.request, q.message_id AS "messageId", q.state, q.reason, q.attempts,
           tried.http_status AS "httpStatus", tried.first_at AS "firstAt", tried.last_at AS "lastAt",
           q.recipients - ${countSuppressedOf('q')} AS recipients,
           e.sub_account AS "subAccount", e.department, e.charge_code AS "chargeCode"
    FROM request_states q
    JOIN envelopes e USING (run_id, envelope)
    CROSS JOIN LATERAL (
      SELECT min(started_at) AS first_at, max(coalesce(finished_at, started_at)) AS last_at,
             (array_agg(http_status ORDER BY attempt DESC) FILTER (WHERE http_status IS NOT NULL))[1] AS http_status
      FROM attempts_between(q.run_id, q.request, q.request)
    ) tried
    WHERE q.run_id = $1 AND q.state = ANY ($2::text[])
    ORDER BY q.request
  `;
  const failures = { sql, values: [run, failedStates] };
  for await (const rows of streamRows<Stored<FailedRequest>>(client, 'failures', failures, batchSize))
    yield rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}
