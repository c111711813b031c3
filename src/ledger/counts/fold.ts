import type { Transaction } from '../session.ts';

/** Rows of a run that are few enough to be added up at each look. */
const fewRows = { counts: 100, answers: 1_000, watched: 500 } as const;

/** Groups of a run whose words are kept, of each state or outcome. */
export const maxGroups = 100;

/** A number of our own for advisory locks. */
const foldLock = 1_302_771_645;

/**
 * Replaces rows of `run_counts`, `run_answers` and `watched_counts` by their sums, of those of the runs that have many. Readers see the
 * rows or their sums. Groups that are not among the largest lose their words.
 */
export async function foldRunCounts(client: Transaction, runs: readonly string[]): Promise<void> {
  await fold(client, runs, fewRows);
}

/** Folds everything of one run, after a concurrent fold: of what is erased or resolved, nothing stays. */
export async function foldWholeRun(client: Transaction, run: string): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [foldLock, run]);
  await fold(client, [run], { counts: 0, answers: 0, watched: 0 });
}

async function fold(
  client: Transaction,
  runs: readonly string[],
  few: Readonly<Record<keyof typeof fewRows, number>>,
): Promise<void> {
  await client.query({ name: 'fold-run-counts', text: foldCounts, values: [runs, few.counts] });
  await client.query({ name: 'fold-run-answers', text: foldAnswers, values: [runs, few.answers] });
  await client.query({ name: 'fold-watched-counts', text: foldWatched, values: [runs, few.watched] });
}

/** SQL: those of the runs $1 that have more than $2 new rows, without runs that another transaction folds. */
const withMany = (table: 'run_counts' | 'run_answers' | 'watched_counts'): string => `
    SELECT run_id
    FROM ${table}
    WHERE run_id = ANY ($1) AND NOT folded
    GROUP BY run_id
    HAVING count(*) > $2 AND pg_try_advisory_xact_lock(${foldLock}, hashtext(run_id))`;

const foldCounts = `
  WITH many AS (${withMany('run_counts')}
  ), taken AS (
    DELETE FROM run_counts t USING many WHERE t.run_id = many.run_id RETURNING t.*
  ), summed AS (
    SELECT run_id, counted, group_id, words, sum(requests) AS requests, sum(recipients) AS recipients,
           row_number() OVER (PARTITION BY run_id, counted ORDER BY sum(requests) DESC, sum(recipients) DESC, group_id) AS place
    FROM taken
    GROUP BY run_id, counted, group_id, words
    HAVING sum(requests) <> 0 OR sum(recipients) <> 0 OR counted = 'all'
  ), named AS (
    -- A group that has lost its words can have fewer than none left.
    SELECT *, place <= ${maxGroups} AND requests >= 0 AND recipients >= 0 AS is_named FROM summed
  )
  INSERT INTO run_counts AS c (run_id, counted, group_id, words, requests, recipients, folded)
  SELECT run_id, counted, CASE WHEN is_named THEN group_id ELSE '' END, CASE WHEN is_named THEN words END, sum(requests),
         sum(recipients), true
  FROM named
  GROUP BY 1, 2, 3, 4
  ORDER BY 1, 2, 3
  ON CONFLICT (run_id, counted, group_id) WHERE folded DO UPDATE
  SET requests = c.requests + excluded.requests, recipients = c.recipients + excluded.recipients
`;

const foldAnswers = `
  WITH many AS (${withMany('run_answers')}
  ), taken AS (
    DELETE FROM run_answers t USING many WHERE t.run_id = many.run_id RETURNING t.*
  ), lasted AS (
    SELECT run_id, answer_interval(max(ended_at) - min(ended_at)) AS step FROM taken GROUP BY run_id
  )
  INSERT INTO run_answers AS a (run_id, ended_at, verdict, http_status, took, attempts, folded)
  SELECT t.run_id, date_bin(l.step, t.ended_at, 'epoch'), t.verdict, t.http_status, t.took, sum(t.attempts), true
  FROM taken t
  JOIN lasted l USING (run_id)
  GROUP BY 1, 2, 3, 4, 5
  HAVING sum(t.attempts) <> 0
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (run_id, ended_at, verdict, http_status, took) WHERE folded DO UPDATE
  SET attempts = a.attempts + excluded.attempts
`;

const foldWatched = `
  WITH many AS (${withMany('watched_counts')}
  ), taken AS (
    DELETE FROM watched_counts t USING many WHERE t.run_id = many.run_id RETURNING t.*
  )
  INSERT INTO watched_counts AS c (run_id, is_canary, variant, destination, outcome, recipients, folded)
  SELECT run_id, is_canary, variant, destination, outcome, sum(recipients), true
  FROM taken
  GROUP BY 1, 2, 3, 4, 5
  HAVING sum(recipients) <> 0
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (run_id, is_canary, variant, destination, outcome) WHERE folded DO UPDATE
  SET recipients = c.recipients + excluded.recipients
`;
