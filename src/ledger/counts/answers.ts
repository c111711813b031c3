import type { AttemptVerdict } from '../../domain/runs.ts';
import type { ReadConnection } from '../session.ts';

/** When the service answered a run, what, and how fast. */
export type RunAnswers = {
  /** In order of time. */
  readonly ended: readonly EndedAttempts[];
  readonly latency: Latency;
};

/** Attempts that ended in the same second, minute or quarter of an hour with the same result. */
export type EndedAttempts = {
  /** Its start, in seconds since 1970. */
  readonly second: number;
  readonly verdict: AttemptVerdict;
  readonly httpStatus: number | null;
  readonly attempts: number;
};

/** Attempts that ended with the same result, at any time. */
type AttemptResult = Omit<EndedAttempts, 'second'>;

/** All attempts by their result, the most frequent first. */
export function groupResults(ended: readonly EndedAttempts[]): AttemptResult[] {
  const results = new Map<string, AttemptResult>();
  for (const { verdict, httpStatus, attempts } of ended) {
    const key = `${verdict} ${httpStatus}`;
    const before = results.get(key)?.attempts ?? 0;
    results.set(key, { verdict, httpStatus, attempts: before + attempts });
  }
  return [...results.values()].toSorted((one, other) => other.attempts - one.attempts);
}

/** How long answers took: milliseconds, up to a tenth too small; null without answers. */
export type Latency = {
  readonly answered: number;
  readonly median: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
};

/**
 * Adds up `run_answers`, and the outcomes of slices that are not done: of a million requests, about a thousand rows and
 * four slices of at most 2,000 requests.
 */
export async function readRunAnswers(client: ReadConnection, run: string): Promise<RunAnswers> {
  const { rows } = await client.query<{
    readonly ended: readonly EndedAttempts[];
    readonly took: readonly AnsweredIn[];
  }>(statement, [run]);
  const { ended, took } = rows[0] ?? { ended: [], took: [] };
  return { ended, latency: latencyOf(took) };
}

const statement = `
  WITH counted AS (
    SELECT date_bin(step, ended_at, 'epoch') AS ended_at, verdict, http_status, took, sum(attempts)::integer AS attempts
    FROM (
      SELECT ended_at, verdict, http_status, took, attempts FROM run_answers WHERE run_id = $1
      UNION ALL
      SELECT ended_at, verdict, http_status, took, count(*)
      FROM (
        SELECT date_trunc('second', o.recorded_at - n.age_ms * interval '1 millisecond') AS ended_at, 'accepted' AS verdict,
               coalesce(n.status, 200) AS http_status, two_digits(n.took_ms) AS took
        FROM outcomes o
        CROSS JOIN LATERAL unnest(o.ages_ms, o.took_ms, o.statuses) AS n (age_ms, took_ms, status)
        WHERE o.run_id = $1
        OFFSET 0
      ) recorded
      GROUP BY GROUPING SETS ((ended_at, verdict, http_status), (took))
    ) each
    -- As folded rows are: a later change of a folded attempt is subtracted from its sum.
    CROSS JOIN (
      SELECT CASE WHEN bool_or(folded) THEN answer_interval(max(ended_at) - min(ended_at)) ELSE interval '1 second' END AS step
      FROM run_answers
      WHERE run_id = $1
    ) lasted
    GROUP BY 1, 2, 3, 4
    HAVING sum(attempts) > 0
  )
  SELECT (
           SELECT coalesce(json_agg(json_build_object(
                    'second', extract(epoch FROM ended_at)::bigint, 'verdict', verdict, 'httpStatus', http_status,
                    'attempts', attempts
                  ) ORDER BY ended_at, verdict, http_status), '[]')
           FROM counted
           WHERE ended_at IS NOT NULL
         ) AS ended,
         (
           SELECT coalesce(json_agg(json_build_object('took', took, 'attempts', attempts) ORDER BY took), '[]')
           FROM counted
           WHERE ended_at IS NULL
         ) AS took
`;

/** Answered attempts by duration: milliseconds, cut to two digits. */
type AnsweredIn = { readonly took: number; readonly attempts: number };

/** @param took in order */
function latencyOf(took: readonly AnsweredIn[]): Latency {
  const answered = took.reduce((sum, { attempts }) => sum + attempts, 0);
  const percentile = (share: number): number | null => {
    let rest = Math.ceil(share * answered);
    for (const { took: lasted, attempts } of took) {
      rest -= attempts;
      if (rest <= 0) return lasted;
    }
    return null;
  };
  return { answered, median: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}
