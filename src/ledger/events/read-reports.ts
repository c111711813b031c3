import type { Transaction } from '../session.ts';
import type { ReceivedReport } from './event.ts';

/** Where delivery reports stand: numbered in order of arrival, and applied in nearly any order. */
export type ReportMarks = {
  /** The last one that is visible; 0: there is none. */
  readonly last: number;
  /** The first one, from a number on, that waits to be read for the first time; null: none does. */
  readonly firstWaiting: number | null;
  /** The missing blocks of which some wait to be read. */
  readonly waiting: readonly number[];
  /** Some of those that wait to be read again. */
  readonly rereading: readonly number[];
};

const maxRereading = 1_000;

const maxMissing = 200;

/** Calls that are committed together have numbers in turn, from a multiple of this. */
export const blockSize = 256;

/**
 * @param from of the first one that waits
 * @param missing first numbers of blocks that were not visible before
 */
export async function readReportMarks(
  client: Transaction,
  from: number,
  missing: readonly number[],
): Promise<ReportMarks> {
  const { rows } = await client.query<ReportMarks>(
    `
    SELECT (
             SELECT CAST(coalesce(max(first_report + coalesce(offsets[calls], calls - 1)), 0) AS float8)
             FROM (SELECT * FROM inbox_blocks ORDER BY first_report DESC LIMIT 1) newest
           ) AS last,
           (
             SELECT CAST(min(CASE
                               WHEN first_report >= $1::bigint THEN first_report
                               -- Calls that are committed at the same time have numbers in turn.
                               WHEN report_ids IS NULL AND last_report >= $1 THEN $1
                               ELSE (SELECT min(report_id) FROM unnest(report_ids) AS report_id WHERE report_id >= $1)
                             END) AS float8)
             FROM inbox_waiting
             WHERE NOT reread
           ) AS "firstWaiting",
           ARRAY(
             SELECT CAST(first_report AS float8) FROM inbox_waiting WHERE first_report = ANY ($2::bigint[])
           ) AS waiting,
           ARRAY(
             SELECT CAST(report_id AS float8)
             FROM inbox_waiting, unnest(report_ids) AS report_id
             WHERE reread
             LIMIT ${maxRereading}
           ) AS rereading
    `,
    [from, missing],
  );
  return rows[0] ?? { last: 0, firstWaiting: null, waiting: [], rereading: [] };
}

/** Returns the first number of the last calls, so many or somewhat more. */
export async function findRecentReports(client: Transaction, calls: number): Promise<number> {
  const { rows } = await client.query<{ first: number }>(
    `
    SELECT CAST(coalesce(min(first_report), 0) AS float8) AS first
    FROM (
      SELECT first_report, sum(calls) OVER (ORDER BY first_report DESC) - calls AS later
      FROM (SELECT first_report, calls FROM inbox_blocks ORDER BY first_report DESC LIMIT $1) newest
    ) counted
    WHERE later < $1
    `,
    [calls],
  );
  return rows[0]?.first ?? 0;
}

/**
 * Finds first numbers of blocks after and up to these numbers without a visible block: they are being committed, or were
 * rolled back.
 *
 * @param limit looks for so many at most, of the partition of the last one
 */
export async function findMissingBlocks(
  client: Transaction,
  after: number,
  last: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await client.query<{ block: number }>(
    `
    SELECT CAST(number AS float8) AS block
    FROM generate_series(greatest($1::bigint, ($2::bigint >> 36) << 36, $2 - $3 * ${blockSize}), $2, ${blockSize}) AS number
    WHERE NOT has_call(number)
    LIMIT ${maxMissing}
    `,
    [firstOfBlock(after) + blockSize, firstOfBlock(last), limit],
  );
  return rows.map(({ block }) => block);
}

/** The first number of the block in which a call was committed. */
export function firstOfBlock(report: number): number {
  return report - (report % blockSize);
}

export type ReadReport = Omit<ReceivedReport, 'kind'> & { readonly at: Date };

export type ReportQuery = {
  /** Null: reports of all runs, and of none. */
  readonly runs: readonly string[] | null;
  readonly from: number;
  readonly to: number;
  /** Further numbers. */
  readonly also: readonly number[];
  readonly newestFirst: boolean;
  readonly withAddresses: boolean;
  readonly limit: number;
};

/** Returns delivery reports that the applier has read. */
export async function readReports(client: Transaction, query: ReportQuery): Promise<ReadReport[]> {
  const { runs, from, to, also, newestFirst, withAddresses, limit } = query;
  const { rows } = await client.query<ReadReport>(
    `
    SELECT CAST(k.report_id AS float8) AS report, k.run_id AS run, k.request, k.position, k.message_id AS "messageId",
           k.state, k.outcome, k.status, k.result, k.received_at AS at, CASE WHEN $6::boolean THEN k.address END AS address
    FROM (
      SELECT * FROM delivery_reports_arrived($2, $3)
      UNION ALL
      SELECT * FROM delivery_reports_of($4::bigint[]) WHERE report_id NOT BETWEEN $2 AND $3
    ) k
    WHERE $1::text[] IS NULL OR k.run_id = ANY ($1)
    ORDER BY CASE WHEN $5::boolean THEN -k.report_id ELSE k.report_id END
    LIMIT $7
    `,
    [runs, from, to, also, newestFirst, withAddresses, limit],
  );
  return rows;
}
