import type { AttemptVerdict, RequestState } from '../../domain/runs.ts';
import { type EndedAttempts, groupResults, type Latency, readRunAnswers } from '../counts/answers.ts';
import { attemptOf, requestOf } from '../request-rows.ts';
import type { ReadConnection } from '../session.ts';

export type AttemptGroup = {
  /** Null: the attempt may still be in flight. */
  readonly verdict: AttemptVerdict | null;
  readonly httpStatus: number | null;
  readonly attempts: number;
};

export type SendsInTime = {
  /** Local start: `2026-11-03T04:05:06`, `2026-11-03T04:05`, `2026-11-03T04` or `2026-11-03`. */
  readonly at: string;
  /** First attempts. */
  readonly requests: number;
  /** Without suppressed recipients. */
  readonly recipients: number;
  readonly retries: number;
};

export type SlowAttempt = {
  readonly messageId: string;
  readonly request: number;
  readonly attempt: number;
  readonly startedAt: Date;
  readonly milliseconds: number;
  readonly httpStatus: number | null;
  readonly verdict: AttemptVerdict | null;
  readonly state: RequestState;
};

export type Sending = {
  /** When the first and the last attempt began; null without attempts. */
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  readonly attempts: number;
  readonly retries: number;
  readonly retried: number;
  readonly answerTimes: Latency;
  /** The most frequent first. */
  readonly ends: readonly AttemptGroup[];
  readonly unit: 'second' | 'minute' | 'hour' | 'day';
  /** In order, without empty intervals. */
  readonly sends: readonly SendsInTime[];
  /** The slowest first. */
  readonly slowest: readonly SlowAttempt[];
};

type DbSending = Omit<Sending, 'slowest' | 'answerTimes' | 'ends'> & {
  readonly slowest: readonly (Omit<SlowAttempt, 'startedAt'> & { startedAt: string })[];
};

/**
 * Reads the attempts once, and the answers as they are counted.
 *
 * @param timeZone IANA name, for `sends`
 * @param slowest number of attempts to list
 */
export async function describeSending(
  client: ReadConnection,
  run: string,
  timeZone: string,
  slowest: number,
): Promise<Sending> {
  const { rows } = await client.query<DbSending>(statement, [run, timeZone, slowest]);
  const [row] = rows;
  if (!row) throw new Error('an aggregate query returned no row');
  const { ended, latency } = await readRunAnswers(client, run);
  return {
    ...row,
    answerTimes: latency,
    ends: groupAttempts(ended, row.attempts),
    slowest: row.slowest.map((each) => ({ ...each, startedAt: new Date(each.startedAt) })),
  };
}

/** @param attempts all of the run: those that have not ended are a group of their own */
function groupAttempts(ended: readonly EndedAttempts[], attempts: number): AttemptGroup[] {
  const inFlight = attempts - ended.reduce((sum, each) => sum + each.attempts, 0);
  const notEnded = { verdict: null, httpStatus: null, attempts: inFlight };
  const groups = [...groupResults(ended), ...(inFlight > 0 ? [notEnded] : [])];
  return groups.toSorted((one, other) => other.attempts - one.attempts);
}

// The unit keeps the table short: 120 seconds, 60 minutes, 72 hours.
const statement = `
  WITH attempt AS MATERIALIZED (
    SELECT request, attempt, started_at, finished_at - started_at AS lasted, verdict, http_status
    FROM all_attempts
    WHERE run_id = $1
  ), whole AS (
    SELECT min(started_at) AS first_at, max(started_at) AS last_at, count(*)::integer AS attempts,
           (count(*) FILTER (WHERE attempt > 1))::integer AS retries,
           (count(*) FILTER (WHERE attempt = 2))::integer AS retried,
           CASE WHEN max(started_at) - min(started_at) > interval '3 days' THEN 'day'
                WHEN max(started_at) - min(started_at) > interval '1 hour' THEN 'hour'
                WHEN max(started_at) - min(started_at) >= interval '2 minutes' THEN 'minute'
                ELSE 'second' END AS unit
    FROM attempt
  ), step AS MATERIALIZED (
    SELECT CASE unit WHEN 'second' THEN 'second' ELSE 'minute' END AS step FROM whole
  ), started AS MATERIALIZED (
    -- FULL JOIN forces a hash or merge join: before the first ANALYZE, Postgres may choose a nested loop.
    SELECT date_trunc((TABLE step), started_at) AS at, (count(*) FILTER (WHERE attempt = 1)) AS requests,
           coalesce(sum(recipients) FILTER (WHERE attempt = 1), 0) AS recipients, (count(*) FILTER (WHERE attempt > 1)) AS retries
    FROM attempt
    FULL JOIN (SELECT request, recipients FROM request_states WHERE run_id = $1) q USING (request)
    GROUP BY 1
  ), suppressed AS (
    SELECT date_trunc((TABLE step), started_at) AS at, 0, -count(*), 0
    FROM recipient_outcomes o
    CROSS JOIN ${attemptOf('$1', 'o.request', '1')} attempt
    WHERE o.run_id = $1 AND o.outcome = 'cancelled'
    GROUP BY 1
  ), sent AS (
    SELECT to_char(at AT TIME ZONE $2,
                   CASE unit WHEN 'day' THEN 'YYYY-MM-DD' WHEN 'hour' THEN 'YYYY-MM-DD"T"HH24'
                             WHEN 'minute' THEN 'YYYY-MM-DD"T"HH24:MI' ELSE 'YYYY-MM-DD"T"HH24:MI:SS' END
           ) AS at,
           sum(requests) AS requests, sum(recipients) AS recipients, sum(retries) AS retries
    FROM (TABLE started UNION ALL TABLE suppressed) each
    CROSS JOIN (SELECT unit FROM whole) whole
    WHERE at IS NOT NULL
    GROUP BY 1
  ), slow AS (
    SELECT q.message_id AS "messageId", request, attempt, started_at AS "startedAt",
           round(extract(epoch FROM lasted) * 1000)::float8 AS milliseconds, http_status AS "httpStatus", verdict, q.state
    FROM (SELECT * FROM attempt WHERE lasted IS NOT NULL ORDER BY lasted DESC, request, attempt LIMIT $3) longest
    JOIN ${requestOf('$1', 'longest.request')} q USING (request)
  )
  SELECT first_at AS "firstAt", last_at AS "lastAt", attempts, retries, retried, unit,
         (SELECT coalesce(json_agg(sent ORDER BY at), '[]') FROM sent) AS sends,
         (SELECT coalesce(json_agg(slow ORDER BY milliseconds DESC, request, attempt), '[]') FROM slow) AS slowest
  FROM whole
`;
