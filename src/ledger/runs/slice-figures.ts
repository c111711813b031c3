import type { RequestState } from '../../domain/runs.ts';
import { batchOf } from '../batch.ts';
import { countSuppressedOf } from '../request-rows.ts';
import type { SliceRange } from '../requests/slice-range.ts';
import type { Transaction } from '../session.ts';

/*
 * Figures of single slices, for pages that follow a run. `summary.ts` and `describe-sending.ts` read the same of a
 * whole run at once: of a million requests in two seconds.
 */

/** `untouched`: nothing was claimed. `settled`: all was claimed, and its outcomes are in one row. */
export type SliceKind = 'untouched' | 'open' | 'settled';

export type SliceVersion = Omit<SliceRange, 'run'> & {
  readonly kind: SliceKind;
  readonly isHeld: boolean;
  readonly claimedTo: number;
  /** Changes with most changes of its requests; those of a held slice can change without it. */
  readonly content: string;
};

/** All slices of a run that send; of a million requests, a few hundred. */
export async function listSliceVersions(client: Transaction, run: string): Promise<SliceVersion[]> {
  const { rows } = await client.query<SliceVersion>({
    name: 'list-slice-versions',
    text: `
      SELECT s.slice, s.first_request AS first, s.last_request AS last, s.claimed_to AS "claimedTo",
             s.state = 'held' AS "isHeld",
             CASE WHEN s.claimed_to < s.first_request THEN 'untouched'
                  WHEN s.claimed_to = s.last_request AND k.slice IS NOT NULL THEN 'settled'
                  ELSE 'open' END AS kind,
             concat_ws('/', s.state, s.version, s.settled, s.rejected, s.not_accepted, s.claimed_to, k.slice) AS content
      FROM slices s
      LEFT JOIN slice_outcomes k USING (run_id, slice)
      WHERE s.run_id = $1 AND s.phase = 'sending'
      ORDER BY s.slice
    `,
    values: [run],
  });
  return rows;
}

/** The requests of a slice. */
export type RequestsOfSlice = Omit<SliceRange, 'run'>;

export const requestsOfSlices = batchOf<RequestsOfSlice>({
  slice: ['integer', ({ slice }) => slice],
  first: ['integer', ({ first }) => first],
  last: ['integer', ({ last }) => last],
});

/** Requests of a slice that have rows, in one state. */
export type RowCount = {
  readonly slice: number;
  readonly state: RequestState;
  readonly requests: number;
  readonly recipients: number;
  /** Of them, suppressed after planning. */
  readonly cancelled: number;
};

export async function countRowsOfSlices(
  client: Transaction,
  run: string,
  slices: readonly RequestsOfSlice[],
): Promise<RowCount[]> {
  const { rows } = await client.query<RowCount>({
    name: 'count-rows-of-slices',
    text: `
      SELECT d.slice, q.state, count(*)::integer AS requests, sum(q.recipients)::integer AS recipients,
             sum(${countSuppressedOf('q')})::integer AS cancelled
      FROM ${requestsOfSlices.table('d', 2)}
      JOIN requests q ON q.run_id = $1 AND q.request BETWEEN d.first AND d.last
      GROUP BY d.slice, q.state
    `,
    values: [run, ...requestsOfSlices.values(slices)],
  });
  return rows;
}

/** The recipients of each slice, as planned. */
export async function countPlannedRecipients(
  client: Transaction,
  run: string,
  slices: readonly RequestsOfSlice[],
): Promise<{ readonly slice: number; readonly recipients: number }[]> {
  const { rows } = await client.query<{ slice: number; recipients: number }>({
    name: 'count-planned-recipients',
    text: `
      SELECT d.slice, p.recipients
      FROM ${requestsOfSlices.table('d', 2)}
      CROSS JOIN LATERAL (
        SELECT coalesce(sum(size), 0)::integer AS recipients
        FROM contents c
        CROSS JOIN LATERAL unnest(c.sizes) AS size
        WHERE c.run_id = $1 AND c.first_request BETWEEN d.first AND d.last
        OFFSET 0
      ) p
    `,
    values: [run, ...requestsOfSlices.values(slices)],
  });
  return rows;
}

/** Requests of an open slice, in arrays. */
export type OpenSlice = {
  readonly slice: number;
  /** Recipients of each request, as planned, in order; empty if they are known. */
  readonly sizes: readonly number[];
  /** Requests that have rows. */
  readonly withRows: readonly number[];
};

const rangesToRead = batchOf<RequestsOfSlice & { readonly hasSizes: boolean }>({
  slice: ['integer', ({ slice }) => slice],
  first: ['integer', ({ first }) => first],
  last: ['integer', ({ last }) => last],
  has_sizes: ['boolean', ({ hasSizes }) => hasSizes],
});

export async function readOpenSlices(
  client: Transaction,
  run: string,
  slices: readonly (RequestsOfSlice & { readonly hasSizes: boolean })[],
): Promise<OpenSlice[]> {
  const { rows } = await client.query<OpenSlice>({
    name: 'read-open-slices',
    text: `
      SELECT d.slice,
             ARRAY(
               SELECT size
               FROM contents c
               CROSS JOIN LATERAL unnest(c.sizes) WITH ORDINALITY AS u (size, number)
               WHERE c.run_id = $1 AND c.first_request BETWEEN d.first AND d.last AND NOT d.has_sizes
               ORDER BY c.first_request, number
             ) AS sizes,
             ARRAY(
               SELECT request FROM requests WHERE run_id = $1 AND request BETWEEN d.first AND d.last
             ) AS "withRows"
      FROM ${rangesToRead.table('d', 2)}
    `,
    values: [run, ...rangesToRead.values(slices)],
  });
  return rows;
}

/** Recipients with a delivery report that came before the answer to their request was recorded. */
export type EarlyReport = {
  readonly slice: number;
  readonly request: number;
  readonly delivered: number;
  readonly undelivered: number;
};

/** Of requests without rows, also if their answers were recorded since. */
export async function listEarlyReports(
  client: Transaction,
  run: string,
  slices: readonly RequestsOfSlice[],
): Promise<EarlyReport[]> {
  const { rows } = await client.query<EarlyReport>({
    name: 'list-early-reports',
    text: `
      SELECT d.slice, p.request, (count(*) FILTER (WHERE o.outcome = 'delivered'))::integer AS delivered,
             (count(*) FILTER (WHERE o.outcome = 'undelivered'))::integer AS undelivered
      FROM ${requestsOfSlices.table('d', 2)}
      JOIN early_proofs p ON p.run_id = $1 AND p.request BETWEEN d.first AND d.last
      JOIN recipient_outcomes o ON o.run_id = $1 AND o.request = p.request
      GROUP BY d.slice, p.request
    `,
    values: [run, ...requestsOfSlices.values(slices)],
  });
  return rows;
}
