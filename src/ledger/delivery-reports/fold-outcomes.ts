import type pg from 'pg';
import { hasCode } from '../../platform/file-error.ts';
import { inTransaction } from '../session.ts';
import { countNothing, outcomeColumns, writeBlocks } from './outcome-blocks.ts';

/** Requests of one slice, some of whose outcomes have rows of their own. */
export type OutcomeRange = {
  readonly run: string;
  readonly first: number;
  readonly last: number;
  /** All reports of the slice are in, or its first one has become old. */
  readonly isDue: boolean;
  /** So many requests have about as many recipients as one transaction folds. */
  readonly step: number;
};

/** About so many recipients. */
const recipientsPerTransaction = 20_000;

/** The end of a page. */
export type FoldedUntil = Pick<OutcomeRange, 'run' | 'last'>;

/** SQL: the slice of the next single outcome after this request, by run and request. */
const nextSlice = (run: string, request: string): string => `
  SELECT o.run_id, s.state, s.accepted_recipients, coalesce(s.first_request, o.request) AS first_request,
         coalesce(s.last_request, o.request) AS last_request, o.reported_at
  FROM (
    SELECT run_id, request, reported_at
    FROM recipient_outcomes r
    WHERE (run_id, request) > (${run}, ${request}) AND report_id IS NOT NULL
      -- OFFSET 0 keeps Postgres from a join, for which it reads and sorts all outcomes where it expects only one of them.
      AND NOT EXISTS (SELECT FROM early_proofs p WHERE p.run_id = r.run_id AND p.request = r.request OFFSET 0)
      AND NOT EXISTS (SELECT FROM runs u WHERE u.run_id = r.run_id AND u.records_deleted_at IS NOT NULL OFFSET 0)
    ORDER BY run_id, request
    LIMIT 1
  ) o
  LEFT JOIN LATERAL (
    SELECT *
    FROM slices
    WHERE run_id = o.run_id AND first_request <= o.request
    ORDER BY first_request DESC
    LIMIT 1
  ) s ON true`;

/**
 * Lists slices that have outcomes with rows of their own, by run and request. Outcomes that counts look up, and those
 * whose run has no records, are never folded.
 *
 * @param oldBefore a slice whose first report came before this time is due in any case
 */
export async function listUnfolded(
  pool: pg.Pool,
  after: FoldedUntil | undefined,
  oldBefore: Date,
  limit: number,
): Promise<readonly OutcomeRange[]> {
  const { rows } = await pool.query<OutcomeRange>(
    `
    WITH RECURSIVE slice AS (
      (${nextSlice('$1::text', '$2::integer')})
      UNION ALL
      SELECT n.*
      FROM slice
      CROSS JOIN LATERAL (${nextSlice('slice.run_id', 'slice.last_request')}) n
    )
    SELECT run_id AS run, first_request AS first, last_request AS last,
           CASE
             WHEN reported_at < $3 THEN true
             WHEN state = 'done' THEN accepted_recipients <= (
               SELECT count(*)
               FROM recipient_outcomes o
               WHERE o.run_id = slice.run_id AND o.request BETWEEN slice.first_request AND slice.last_request
                 AND o.report_id IS NOT NULL
             )
             ELSE false
           END AS "isDue",
           CAST(greatest(1, ${recipientsPerTransaction} / greatest(1, accepted_recipients / (last_request - first_request + 1))) AS integer) AS step
    FROM slice
    LIMIT $4
    `,
    [after?.run ?? '', after?.last ?? 0, oldBefore, limit],
  );
  return rows;
}

/** An arbitrary lock number: one process folds at a time, and none while a run is purged. */
export const foldOutcomesLock = 5_518_204_637;

/**
 * Folds the outcomes of a slice into its blocks, some requests in each transaction.
 *
 * @param shouldContinue called between two transactions
 * @returns the number of folded outcomes; undefined if another transaction was in the way of some
 */
export async function foldOutcomes(
  pool: pg.Pool,
  { run, first, last, step }: Omit<OutcomeRange, 'isDue'>,
  shouldContinue: () => boolean = () => true,
): Promise<number | undefined> {
  let folded: number | undefined = 0;
  for (let from = first; from <= last && shouldContinue(); from += step) {
    const added = await foldRange(pool, { run, first: from, last: Math.min(last, from + step - 1) });
    folded = folded === undefined || added === undefined ? undefined : folded + added;
  }
  return folded;
}

/**
 * It waits for no other one for long: an applier may
 * have locked an outcome, and then wait for a block.
 *
 * @returns the number of folded outcomes; undefined if another transaction is in the way
 */
async function foldRange(
  pool: pg.Pool,
  { run, first, last }: Pick<OutcomeRange, 'run' | 'first' | 'last'>,
): Promise<number | undefined> {
  try {
    return await inTransaction(pool, async (client) => {
      const { rows } = await client.query<{ locked: boolean }>(
        `SELECT pg_try_advisory_xact_lock(${foldOutcomesLock}) AS locked`,
      );
      if (rows[0]?.locked !== true) return undefined;
      // Shorter than Postgres waits before it looks for a deadlock, and ends either.
      await client.query("SET LOCAL lock_timeout = '200ms'; SET LOCAL jit = off");
      await client.query(countNothing);
      await client.query(lockBlocks, [run, first, last]);
      const { rows: folded } = await client.query<{ outcomes: number }>(fold, [run, first, last]);
      return folded[0]?.outcomes ?? 0;
    });
  } catch (error) {
    if (hasCode(error, lockNotAvailable)) return undefined;
    throw error;
  }
}

const lockNotAvailable = '55P03';

const lockBlocks = `
  SELECT
  FROM folded_outcomes
  WHERE run_id = $1 AND first_request <= $3 AND last_request >= $2
  ORDER BY first_request
  FOR UPDATE
`;

/** About so many recipients share a block. */
const recipientsPerOutcomeBlock = 400;

/** SQL: whether a time, or null, is stored exactly. Integers count milliseconds. */
const fits = (time: string): string =>
  `(${time} IS NULL OR (${time} = date_trunc('milliseconds', ${time})
      AND ${time} - c.base_at BETWEEN interval '-24 days' AND interval '24 days'))`;

/** $1: run. $2 and $3: requests of a slice, which a former block may exceed. What no block can hold keeps its row, and so do outcomes that counts look up. */
const fold = `
  WITH grid AS MATERIALIZED (
    SELECT min(first_request) AS first_request, max(last_request) AS last_request
    FROM (
      SELECT first_request, last_request,
             (row_number() OVER (ORDER BY first_request) - 1)
               / greatest(1, ${recipientsPerOutcomeBlock} * count(*) OVER () / greatest(1, sum(cardinality(positions)) OVER ())) AS number
      FROM contents_between($1, $2, $3)
      WHERE EXISTS (SELECT FROM runs WHERE run_id = $1 AND records_deleted_at IS NULL)
    ) c
    GROUP BY number
  ), present AS MATERIALIZED (
    SELECT first_request, last_request, base_at, base_report
    FROM folded_outcomes
    WHERE run_id = $1 AND first_request <= $3 AND last_request >= $2
  ), range AS (
    SELECT * FROM present
    UNION ALL
    -- What no block has yet: a purge merges blocks of contents, and former transactions may have had other ranges.
    SELECT lower(r), upper(r) - 1, NULL, NULL
    FROM grid
    CROSS JOIN LATERAL unnest(
      int4multirange(int4range(greatest(first_request, $2), least(last_request, $3), '[]'))
        - (SELECT coalesce(range_agg(int4range(first_request, last_request, '[]')), '{}') FROM present)
    ) AS r
  ), cell AS MATERIALIZED (
    SELECT r.first_request, r.last_request, coalesce(r.base_at, o.base_at) AS base_at,
           coalesce(r.base_report, o.base_report) AS base_report
    FROM range r
    CROSS JOIN LATERAL (
      SELECT min(reported_at) AS base_at, min(report_id) AS base_report
      FROM recipient_outcomes
      WHERE run_id = $1 AND request BETWEEN greatest(r.first_request, $2) AND least(r.last_request, $3)
        AND report_id IS NOT NULL
    ) o
    WHERE o.base_at IS NOT NULL
  ), taken AS (
    DELETE FROM recipient_outcomes o
    USING cell c
    WHERE o.run_id = $1 AND o.request BETWEEN $2 AND $3 AND o.report_id IS NOT NULL
      AND o.request BETWEEN c.first_request AND c.last_request
      AND ${fits('o.reported_at')} AND ${fits('o.sent_at')}
      AND (o.job_number IS NULL OR (o.job_number <> '' AND o.job_number !~ E'\\t'))
      AND NOT EXISTS (SELECT FROM early_proofs p WHERE p.run_id = $1 AND p.request = o.request)
    RETURNING c.first_request AS block, o.*
  ), ${writeBlocks(`
    SELECT ${outcomeColumns}, c.first_request, c.last_request, c.base_at, c.base_report
    FROM cell c
    JOIN (
      SELECT block, ${outcomeColumns} FROM taken
      UNION ALL
      SELECT f.first_request, ${outcomeColumns}
      FROM cell e
      CROSS JOIN LATERAL (
        SELECT * FROM folded_recipients WHERE run_id = $1 AND first_request = e.first_request OFFSET 0
      ) f
      WHERE e.first_request IN (SELECT block FROM taken)
    ) o ON o.block = c.first_request`)}
  SELECT CAST(count(*) AS integer) AS outcomes FROM taken
`;
