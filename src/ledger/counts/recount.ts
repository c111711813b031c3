import type { Connection } from '../session.ts';

/** A count that differs from what the requests and outcomes of the run are. Requests, and their recipients. */
export type WrongCount = {
  /** As in `run_counts`; of a group, its words follow; of answers, their verdict or duration; of watched ones, where. */
  readonly counted: string;
  readonly kept: readonly [number, number];
  readonly found: readonly [number, number];
};

/** Counts the requests, recipients, outcomes and attempts of a run anew: a million of each take some seconds. */
export async function findWrongCounts(client: Connection, run: string): Promise<readonly WrongCount[]> {
  const wrong: WrongCount[] = [];
  for (const statement of [wrongCounts, wrongGroups, wrongAnswers, wrongWatched])
    wrong.push(...(await client.query<WrongCount>(statement, [run])).rows);
  return wrong;
}

const wrongCounts = `
  SELECT counted, json_build_array(coalesce(k.requests, 0), coalesce(k.recipients, 0)) AS kept,
         json_build_array(coalesce(f.requests, 0), coalesce(f.recipients, 0)) AS found
  FROM (
    SELECT counted, sum(requests) AS requests, sum(recipients) AS recipients
    FROM (
      SELECT counted, requests, recipients FROM run_counts WHERE run_id = $1
      UNION ALL
      SELECT 'accepted', accepted, accepted_recipients FROM slices WHERE run_id = $1
    ) each
    GROUP BY counted
  ) k
  FULL JOIN recount_run($1) f USING (counted)
  WHERE coalesce(k.requests, 0) <> coalesce(f.requests, 0) OR coalesce(k.recipients, 0) <> coalesce(f.recipients, 0)
  ORDER BY counted
`;

/** Where no group has lost its words, all are known. */
const wrongGroups = `
  SELECT concat_ws(' ', counted, coalesce(k.words, f.words)) AS counted,
         json_build_array(coalesce(k.requests, 0), coalesce(k.recipients, 0)) AS kept,
         json_build_array(coalesce(f.requests, 0), coalesce(f.recipients, 0)) AS found
  FROM (
    SELECT counted, group_id, words, sum(requests) AS requests, sum(recipients) AS recipients
    FROM run_counts
    WHERE run_id = $1
      AND counted IN ('rejected', 'divided', 'failed', 'in_doubt', 'abandoned', 'delivered', 'undelivered')
    GROUP BY counted, group_id, words
    HAVING sum(requests) <> 0 OR sum(recipients) <> 0
  ) k
  FULL JOIN recount_groups($1) f USING (counted, group_id)
  WHERE (coalesce(k.requests, 0) <> coalesce(f.requests, 0) OR coalesce(k.recipients, 0) <> coalesce(f.recipients, 0)
         OR k.words IS DISTINCT FROM f.words)
    AND NOT EXISTS (SELECT FROM run_counts o WHERE o.run_id = $1 AND o.counted = coalesce(k.counted, f.counted) AND o.words IS NULL AND o.group_id = '')
  ORDER BY counted
`;

/** Folded answers are those of the longest intervals. */
const wrongAnswers = `
  SELECT concat_ws(' ', 'answers', ended_at, verdict, http_status, took) AS counted,
         json_build_array(coalesce(k.attempts, 0), 0) AS kept, json_build_array(coalesce(f.attempts, 0), 0) AS found
  FROM (
    SELECT coalesce(date_bin('15 minutes', ended_at, 'epoch'), 'epoch') AS ended_at, coalesce(verdict, '') AS verdict,
           coalesce(http_status, 0) AS http_status, coalesce(took, 0) AS took, sum(attempts) AS attempts
    FROM run_answers
    WHERE run_id = $1
    GROUP BY 1, 2, 3, 4
    HAVING sum(attempts) <> 0
  ) k
  FULL JOIN (
    SELECT coalesce(date_bin('15 minutes', ended_at, 'epoch'), 'epoch') AS ended_at, coalesce(verdict, '') AS verdict,
           coalesce(http_status, 0) AS http_status, coalesce(took, 0) AS took, sum(attempts) AS attempts
    FROM recount_answers($1)
    GROUP BY 1, 2, 3, 4
  ) f USING (ended_at, verdict, http_status, took)
  WHERE coalesce(k.attempts, 0) <> coalesce(f.attempts, 0)
`;

/** Of a purged run nothing can be counted anew; of one with an erased person, not where each recipient was. */
const wrongWatched = `
  WITH erased AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM contents WHERE run_id = $1 AND '' = ANY (addresses)) AS has_erased
  )
  SELECT concat_ws(' ', 'watched', outcome, destination, CASE WHEN is_canary THEN 'canary' END, nullif(variant, 0)) AS counted,
         json_build_array(0, coalesce(k.recipients, 0)) AS kept, json_build_array(0, coalesce(f.recipients, 0)) AS found
  FROM (
    SELECT is_canary, coalesce(variant, 0) AS variant, CASE WHEN has_erased THEN '' ELSE destination END AS destination, outcome,
           sum(recipients) AS recipients
    FROM watched_counts, erased
    WHERE run_id = $1 AND outcome <> 'other price'
    GROUP BY 1, 2, 3, 4
    HAVING sum(recipients) <> 0
  ) k
  FULL JOIN (
    SELECT is_canary, coalesce(variant, 0) AS variant, CASE WHEN has_erased THEN '' ELSE destination END AS destination, outcome,
           sum(recipients) AS recipients
    FROM recount_watched($1), erased
    GROUP BY 1, 2, 3, 4
  ) f USING (is_canary, variant, destination, outcome)
  WHERE coalesce(k.recipients, 0) <> coalesce(f.recipients, 0)
    AND NOT EXISTS (SELECT FROM runs WHERE run_id = $1 AND (purging OR purged_at IS NOT NULL))
  ORDER BY counted
`;

/** Lists ids, the newest run first, without those whose records are deleted. */
export async function listNewestRuns(client: Connection, limit: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ run: string }>(
    'SELECT run_id AS run FROM runs WHERE records_deleted_at IS NULL ORDER BY created_at DESC LIMIT $1',
    [limit],
  );
  return rows.map(({ run }) => run);
}
