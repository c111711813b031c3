import type { BareReasonKind } from '../../domain/reasons.ts';
import type { RunState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import { requestReason, runReason, type Stored } from '../reasons.ts';
import type { Transaction } from '../session.ts';
import type { AttemptEnd, ResolvedRequests, RunEvent, SettledRequest, StateChange } from './event.ts';

/*
 * Rows are committed in another order than their times and numbers. So a reader remembers the oldest transaction that
 * was running when it last looked: a row of an older one was visible then. Among the others, it remembers the rows
 * that it has seen.
 */

/** Numbers of transactions, as text. */
export type RunningTransactions = {
  /** Every one before it was committed or rolled back. */
  readonly oldest: string;
  /** None from it on had begun. */
  readonly next: string;
};

export async function readRunningTransactions(client: Transaction): Promise<RunningTransactions> {
  const { rows } = await client.query<RunningTransactions>(
    `
    SELECT CAST(pg_snapshot_xmin(s) AS text) AS oldest, CAST(pg_snapshot_xmax(s) AS text) AS next
    FROM pg_current_snapshot() s
    `,
  );
  return rows[0] ?? { oldest: '0', next: '0' };
}

/**
 * SQL: whether a row was written by this transaction or a later one. Rows have the last 32 bits of the number, so the
 * comparison goes round.
 *
 * @param oldest SQL of the transaction; null: every row is recent
 */
export function isRecent(row: string, oldest: string): string {
  return `(
    ${oldest}::bigint IS NULL
    OR mod(CAST(CAST(${row}.xmin AS text) AS bigint) - mod(${oldest}::bigint, 4294967296) + 4294967296, 4294967296) < 2147483648
  )`;
}

/** Whether rows of the transaction can still be new to a reader that remembers `oldest`. */
export function mayBeRead(transaction: number, oldest: string): boolean {
  const since = (transaction - Number(BigInt(oldest) % 4_294_967_296n) + 2 ** 32) % 2 ** 32;
  return since < 2 ** 31;
}

/** An event of a row, which a later look may read again. */
export type ReadEvent = {
  /** Names the row. */
  readonly key: string;
  /** With another content, it is another event. */
  readonly content: string;
  /** It wrote the row. */
  readonly transaction: number;
  readonly event: RunEvent;
};

type ReadRow<Event> = Omit<Event, 'kind'> & { readonly transaction: number; readonly at: Date };

export type FollowedRun = { readonly run: string; readonly state: RunState; readonly heldSlices: number };

/** Ended runs that are followed with those that are not over: their requests may be resolved. */
const newestRuns = 20;

/** Lists one run, or all that are not over and the newest ones. */
export async function listFollowedRuns(client: Transaction, run: string | undefined): Promise<FollowedRun[]> {
  const { rows } = await client.query<FollowedRun>(
    `
    SELECT r.run_id AS run, r.state,
           (SELECT count(*)::integer FROM slices s WHERE s.run_id = r.run_id AND s.state = 'held') AS "heldSlices"
    FROM runs r
    WHERE CASE WHEN $1::text IS NULL
               THEN r.state IN ('planned', 'running', 'paused')
                    OR r.run_id = ANY (ARRAY(SELECT n.run_id FROM runs n ORDER BY n.created_at DESC LIMIT ${newestRuns}))
               ELSE r.run_id = $1
          END
    `,
    [run ?? null],
  );
  return rows;
}

export async function readStateChanges(
  client: Transaction,
  runs: readonly string[],
  oldest: string | null,
): Promise<ReadEvent[]> {
  const { rows } = await client.query<Stored<ReadRow<StateChange>> & { readonly change: string }>(
    `
    SELECT CAST(CAST(s.xmin AS text) AS float8) AS transaction, s.change, s.run_id AS run, s.changed_at AS at, s.state,
           s.reason
    FROM run_states s
    WHERE s.run_id = ANY ($1) AND ${isRecent('s', '$2')}
    ORDER BY s.change
    `,
    [runs, oldest],
  );
  return rows.map(({ transaction, change, ...row }) => {
    const event = { kind: 'state', ...row, reason: runReason(row.reason) } as const;
    return { key: `state ${change}`, content: '', transaction, event };
  });
}

/** Reads decisions of operators. The rows of one decision share their time. */
export async function readResolutions(
  client: Transaction,
  runs: readonly string[],
  oldest: string | null,
): Promise<ReadEvent[]> {
  const { rows } = await client.query<ReadRow<ResolvedRequests>>(
    `
    SELECT max(CAST(CAST(s.xmin AS text) AS float8)) AS transaction, s.run_id AS run, s.resolved_at AS at,
           array_agg(s.request ORDER BY s.request) AS requests, s.resolution, s.resolved_by AS by, s.reason AS words
    FROM resolutions s
    WHERE s.run_id = ANY ($1) AND ${isRecent('s', '$2')}
    GROUP BY s.run_id, s.resolved_at, s.resolution, s.resolved_by, s.reason
    `,
    [runs, oldest],
  );
  return rows.map(({ transaction, ...row }) => {
    const key = `resolved ${row.run}/${row.at.toISOString()}/${row.requests[0]}`;
    return { key, content: '', transaction, event: { kind: 'resolved', ...row } };
  });
}

type RequestRange = { readonly run: string; readonly first: number; readonly last: number };

const ranges = batchOf<RequestRange>({
  run_id: ['text', ({ run }) => run],
  first: ['integer', ({ first }) => first],
  last: ['integer', ({ last }) => last],
});

/** Reads finished attempts of requests that have rows. */
export async function readAttempts(
  client: Transaction,
  slices: readonly RequestRange[],
  oldest: string | null,
  since: Date | null,
): Promise<ReadEvent[]> {
  const { rows } = await client.query<Stored<ReadRow<AttemptEnd>>>(
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
  return rows.map(({ transaction, ...row }) => {
    const event = { kind: 'attempt', ...row, reason: requestReason(row.reason) } as const;
    const key = `attempt ${row.run}/${row.request}/${row.attempt}`;
    return { key, content: `${row.verdict}/${row.httpStatus}`, transaction, event };
  });
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

/**
 * Reads requests that were settled otherwise than by an answer.
 *
 * @param now the time of a request that a delivery report proves, which does not change its row's time
 */
export async function readSettledRequests(
  client: Transaction,
  slices: readonly RequestRange[],
  oldest: string | null,
  now: Date,
): Promise<ReadEvent[]> {
  const { rows } = await client.query<Stored<ReadRow<SettledRequest>>>(
    `
    SELECT CAST(CAST(q.xmin AS text) AS float8) AS transaction, q.run_id AS run, q.request,
           message_id(r.run_number, r.message_key, q.request) AS "messageId",
           CASE WHEN q.reason ->> 'kind' <> 'reported' THEN q.updated_at ELSE $3 END AS at, q.state, q.reason
    FROM ${ranges.table('k', 4)}
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
    [oldest, ownReasons, now, ...ranges.values(slices)],
  );
  return rows.map(({ transaction, ...row }) => {
    const event = { kind: 'settled', ...row, reason: requestReason(row.reason) } as const;
    const content = `${row.state}/${JSON.stringify(event.reason)}`;
    return { key: `request ${row.run}/${row.request}`, content, transaction, event };
  });
}
