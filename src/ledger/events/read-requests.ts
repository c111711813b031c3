import type { BareReasonKind } from '../../domain/reasons.ts';
import { batchOf } from '../batch.ts';
import { requestReason, type Stored } from '../reasons.ts';
import type { Transaction } from '../session.ts';
import type { AttemptEnd, SettledRequest } from './event.ts';
import type { TouchedSlice } from './read-slices.ts';
import { isRecent, type ReadRow } from './recent.ts';

const ranges = batchOf<Pick<TouchedSlice, 'run' | 'first' | 'last'>>({
  run_id: ['text', ({ run }) => run],
  first: ['integer', ({ first }) => first],
  last: ['integer', ({ last }) => last],
});

export type ReadAttempt = ReadRow<AttemptEnd>;

/** Reads finished attempts of requests that have rows, in these slices. */
export async function readAttempts(
  client: Transaction,
  slices: readonly TouchedSlice[],
  oldest: string | null,
  since: Date | null,
): Promise<ReadAttempt[]> {
  const { rows } = await client.query<Stored<ReadAttempt>>(
    `
    SELECT CAST(CAST(a.xmin AS text) AS float8) AS transaction, a.run_id AS run, a.request,
           message_id(r.run_number, r.message_key, a.request) AS "messageId", a.attempt, a.finished_at AS at, a.verdict,
           a.http_status AS "httpStatus", a.detail AS reason
    FROM ${ranges.table('k', 3)}
    JOIN runs r ON r.run_id = k.run_id
    CROSS JOIN LATERAL (
      SELECT a.*, a.xmin
      FROM attempts a
      WHERE a.run_id = k.run_id AND a.request BETWEEN k.first AND k.last AND a.finished_at IS NOT NULL
        AND ($2::timestamptz IS NULL OR a.finished_at >= $2) AND ${isRecent('a', '$1')}
      OFFSET 0
    ) a
    ORDER BY a.run_id, a.request, a.attempt
    `,
    [oldest, since, ...ranges.values(slices)],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}

/** Reasons for states that no attempt shows. An operator's decision is in `resolutions`. */
const ownReasons: readonly (BareReasonKind | 'resent')[] = [
  'reported',
  'looked_up',
  'all_suppressed',
  'all_suppressed_before_resend',
  'run_cancelled_before_resend',
  'resent',
];

export type ReadRequest = Omit<ReadRow<SettledRequest>, 'at'> & {
  /** Null: unknown. A delivery report that proves a request does not change it. */
  readonly at: Date | null;
};

/** Reads requests in these slices that were settled otherwise than by an answer. */
export async function readSettledRequests(
  client: Transaction,
  slices: readonly TouchedSlice[],
  oldest: string | null,
): Promise<ReadRequest[]> {
  const { rows } = await client.query<Stored<ReadRequest>>(
    `
    SELECT CAST(CAST(q.xmin AS text) AS float8) AS transaction, q.run_id AS run, q.request,
           message_id(r.run_number, r.message_key, q.request) AS "messageId",
           CASE WHEN q.reason ->> 'kind' <> 'reported' THEN q.updated_at END AS at, q.state, q.reason
    FROM ${ranges.table('k', 3)}
    JOIN runs r ON r.run_id = k.run_id
    CROSS JOIN LATERAL (
      SELECT q.*, q.xmin
      FROM requests q
      WHERE q.run_id = k.run_id AND q.request BETWEEN k.first AND k.last AND q.reason ->> 'kind' = ANY ($2)
        AND ${isRecent('q', '$1')}
      OFFSET 0
    ) q
    ORDER BY q.run_id, q.request
    `,
    [oldest, ownReasons, ...ranges.values(slices)],
  );
  return rows.map((row) => ({ ...row, reason: requestReason(row.reason) }));
}
