import { batchOf } from '../batch.ts';
import type { RequestKey } from '../requests/by-message-id.ts';
import type { Transaction } from '../session.ts';
import { type RecipientKey, recipientKeys } from './report-content.ts';

/* Blocks of folded outcomes. Whatever changes a block locks it first, several in key order. */

/** SQL: the columns of `recipient_outcomes`. */
export const outcomeColumns = `run_id, request, position, outcome, result, units, price, reported_at, report_id, status,
  job_number, sent_at`;

/** SQL: whole milliseconds from `base_at`. */
const sinceBase = (time: string): string => `CAST(extract(epoch FROM ${time} - base_at) * 1000 AS bigint)`;

const sorted = (values: string): string => `array_agg(${values} ORDER BY request, position)`;

/** SQL: two columns of numbers; NULL where there is none. */
const halves = (name: string, number: string): string =>
  ['high', 'low']
    .map(
      (half) =>
        `CASE WHEN count(${number}) > 0 THEN ${sorted(`${half}_half(${number})`)} END AS ${name}_${half}`,
    )
    .join(',\n           ');

/**
 * SQL of `WITH` clauses that write blocks; `block` has them.
 *
 * @param elements SQL: all recipients of each block, with the columns of `recipient_outcomes` and `first_request`,
 * `last_request`, `base_at` and `base_report` of the block
 */
export function writeBlocks(elements: string): string {
  return `
  numbered AS (
    -- As text: 1.0 and 1.00 are equal.
    SELECT e.*, dense_rank() OVER (block ORDER BY outcome, CAST(units AS text), CAST(price AS text)) AS kind,
           dense_rank() OVER (block ORDER BY result, status) AS words, max(position) OVER block AS stride
    FROM (${elements}) e
    WINDOW block AS (PARTITION BY run_id, first_request)
  ), ranked AS (
    SELECT *, (request - first_request) * stride + position - 1 AS place,
           row_number() OVER (PARTITION BY run_id, first_request, kind) = 1 AS names_kind,
           row_number() OVER (PARTITION BY run_id, first_request, words) = 1 AS names_words
    FROM numbered
  ), block AS MATERIALIZED (
    SELECT run_id, first_request, last_request, base_at, base_report,
           range_agg(int8range(report_id >> 18 << 18, (report_id >> 18) + 1 << 18)) AS reports,
           array_agg(outcome ORDER BY kind) FILTER (WHERE names_kind) AS outcomes,
           array_agg(units ORDER BY kind) FILTER (WHERE names_kind) AS units,
           array_agg(price ORDER BY kind) FILTER (WHERE names_kind) AS prices,
           stride, range_agg(int4range(place, place + 1)) AS places,
           ${sorted('CAST(kind AS smallint)')} AS kinds,
           ${sorted('CAST(report_id - base_report + 2147483648 >> 32 AS smallint)')} AS report_top,
           ${halves('report', '(report_id - base_report + 2147483648 & 4294967295) - 2147483648')},
           ${halves('reported', sinceBase('reported_at'))},
           array_agg(result ORDER BY words) FILTER (WHERE names_words) AS results,
           array_agg(status ORDER BY words) FILTER (WHERE names_words) AS statuses,
           ${sorted('CAST(words AS smallint)')} AS words,
           CASE WHEN count(job_number) > 0 THEN array_to_string(${sorted('job_number')}, E'\\t', '') END AS job_numbers,
           ${halves('sent', sinceBase('sent_at'))},
           count(result) + count(status) + count(job_number) + count(sent_at) > 0 AS is_described
    FROM ranked
    GROUP BY run_id, first_request, last_request, base_at, base_report, stride
  ), written AS (
    INSERT INTO folded_outcomes (run_id, first_request, last_request, base_at, base_report, reports, outcomes, units,
                                 prices, stride, places, kinds, report_top, report_high, report_low, reported_high,
                                 reported_low)
    SELECT run_id, first_request, last_request, base_at, base_report, reports, outcomes, units, prices, stride, places,
           kinds, report_top, report_high, report_low, reported_high, reported_low
    FROM block
    ON CONFLICT (run_id, first_request) DO UPDATE
    SET (reports, outcomes, units, prices, stride, places, kinds, report_top, report_high, report_low, reported_high,
         reported_low)
      = (excluded.reports, excluded.outcomes, excluded.units, excluded.prices, excluded.stride, excluded.places,
         excluded.kinds, excluded.report_top, excluded.report_high, excluded.report_low, excluded.reported_high, excluded.reported_low)
  ), described AS (
    INSERT INTO folded_reports (run_id, first_request, results, statuses, words, job_numbers, sent_high, sent_low)
    SELECT run_id, first_request, results, statuses, words, job_numbers, sent_high, sent_low
    FROM block
    WHERE is_described
    ON CONFLICT (run_id, first_request) DO UPDATE
    SET (results, statuses, words, job_numbers, sent_high, sent_low)
      = (excluded.results, excluded.statuses, excluded.words, excluded.job_numbers, excluded.sent_high,
         excluded.sent_low)
  )`;
}

/** SQL: the triggers on `recipient_outcomes` count nothing until the transaction ends, or until `countAgain`. */
export const countNothing = "SELECT set_config('volley.moves_outcomes', 'on', true)";
const countAgain = "SELECT set_config('volley.moves_outcomes', 'off', true)";

/** Gives folded outcomes of these recipients rows of their own again, which can be locked and changed. */
export async function unfoldOutcomes(
  client: Transaction,
  recipients: readonly RecipientKey[],
): Promise<void> {
  if (recipients.length === 0) return;
  const keys = recipientKeys.values(recipients);
  // Not prepared: a plan made for small tables would scan large ones.
  const { rows: blocks } = await client.query<RequestKey>(lockBlocks, keys);
  if (blocks.length === 0) return;
  await client.query(countNothing);
  await client.query(unfold, [...keys, ...blockKeys.values(blocks)]);
  await client.query(countAgain);
}

/** Like `unfoldOutcomes`, for the outcomes that these reports decided. */
export async function unfoldOutcomesOf(client: Transaction, reports: readonly string[]): Promise<void> {
  const { rows } = await client.query<RecipientKey>(
    'SELECT run_id AS run, request, position FROM folded_by($1::bigint[])',
    [reports],
  );
  await unfoldOutcomes(client, rows);
}

/** Blocks by their first request. */
const blockKeys = batchOf<RequestKey>({
  run_id: ['text', ({ run }) => run],
  first_request: ['integer', ({ request }) => request],
});

const lockBlocks = `
  SELECT run_id AS run, first_request AS request
  FROM folded_outcomes
  WHERE (run_id, first_request) IN (
    SELECT f.run_id, f.first_request
    FROM ${recipientKeys.table('k')}
    CROSS JOIN LATERAL folded_block_of(k.run_id, k.request) f
    WHERE is_in_block(f.first_request, f.stride, f.places, k.request, k.position)
  )
  ORDER BY run_id, first_request
  FOR UPDATE
`;

/** SQL: $1 to $3: recipients. $4 and $5: their blocks, locked. */
const unfold = `
  WITH chosen AS MATERIALIZED (
    SELECT b.run_id, b.first_request, b.last_request, b.base_at, b.base_report
    FROM ${blockKeys.table('c', 4)}
    JOIN folded_outcomes b USING (run_id, first_request)
  ), element AS MATERIALIZED (
    SELECT f.*, c.base_at, c.base_report, k.request IS NOT NULL AS is_taken
    FROM chosen c
    CROSS JOIN LATERAL (
      SELECT * FROM folded_recipients WHERE run_id = c.run_id AND first_request = c.first_request OFFSET 0
    ) f
    LEFT JOIN (SELECT DISTINCT * FROM ${recipientKeys.table('r')}) k
      ON k.run_id = f.run_id AND k.request = f.request AND k.position = f.position
  ), taken AS (
    INSERT INTO recipient_outcomes (${outcomeColumns})
    SELECT ${outcomeColumns}
    FROM element
    WHERE is_taken
    ORDER BY run_id, request, position
  ), ${writeBlocks('SELECT * FROM element WHERE NOT is_taken')}, emptied AS (
    DELETE FROM folded_outcomes f
    USING chosen c
    WHERE f.run_id = c.run_id AND f.first_request = c.first_request
      AND (c.run_id, c.first_request) NOT IN (SELECT run_id, first_request FROM block)
  )
  DELETE FROM folded_reports w
  USING chosen c
  WHERE w.run_id = c.run_id AND w.first_request = c.first_request
    AND (c.run_id, c.first_request) NOT IN (SELECT run_id, first_request FROM block WHERE is_described)
`;
