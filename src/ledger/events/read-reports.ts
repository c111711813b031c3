import type { Transaction } from '../session.ts';
import type { ReceivedReport } from './event.ts';

/** Where delivery reports stand: numbered in order of arrival, and applied in nearly any order. */
export type ReportMarks = {
  /** The last one that is visible; 0: there is none. */
  readonly last: number;
  /** The first one, from a number on, that waits to be read for the first time; null: none does. */
  readonly firstWaiting: number | null;
  /** Those of the missing ones that wait to be read. */
  readonly waiting: readonly number[];
  /** Some of those that wait to be read again. */
  readonly rereading: readonly number[];
};

const maxRereading = 1_000;

/**
 * @param from of the first one that waits
 * @param missing numbers that were not visible before
 */
export async function readReportMarks(
  client: Transaction,
  from: number,
  missing: readonly number[],
): Promise<ReportMarks> {
  const { rows } = await client.query<ReportMarks>(
    `
    SELECT (SELECT CAST(coalesce(max(report_id), 0) AS float8) FROM inbox) AS last,
           (
             SELECT CAST(min(CASE
                               WHEN report_ids[1] >= $1::bigint THEN report_ids[1]
                               -- Calls that are committed at the same time have numbers in turn.
                               ELSE (SELECT min(report_id) FROM unnest(report_ids) AS report_id WHERE report_id >= $1)
                             END) AS float8)
             FROM inbox_queue
             WHERE NOT reread
           ) AS "firstWaiting",
           ARRAY(
             SELECT CAST(report_id AS float8)
             FROM inbox_queue, unnest(report_ids) AS report_id
             WHERE cardinality($2::bigint[]) > 0 AND report_id = ANY ($2)
           ) AS waiting,
           ARRAY(
             SELECT CAST(report_id AS float8)
             FROM inbox_queue, unnest(report_ids) AS report_id
             WHERE reread
             LIMIT ${maxRereading}
           ) AS rereading
    `,
    [from, missing],
  );
  return rows[0] ?? { last: 0, firstWaiting: null, waiting: [], rereading: [] };
}

/** Finds numbers in this range without a visible report: they are being committed, or were rolled back. */
export async function findMissingReports(
  client: Transaction,
  after: number,
  last: number,
): Promise<readonly number[]> {
  const { rows } = await client.query<{ report: number }>(
    `
    SELECT CAST(number AS float8) AS report
    FROM generate_series($1::bigint + 1, $2::bigint) AS number
    WHERE NOT EXISTS (SELECT FROM inbox WHERE report_id = number)
    `,
    [after, last],
  );
  return rows.map(({ report }) => report);
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
    FROM delivery_reports k
    WHERE (k.report_id BETWEEN $2::bigint AND $3::bigint OR k.report_id = ANY ($4::bigint[]))
      AND ($1::text[] IS NULL OR k.run_id = ANY ($1))
    ORDER BY CASE WHEN $5::boolean THEN -k.report_id ELSE k.report_id END
    LIMIT $7
    `,
    [runs, from, to, also, newestFirst, withAddresses, limit],
  );
  return rows;
}
