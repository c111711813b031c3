import type { RequestState, RunKind } from '../../domain/runs.ts';
import type { Snapshot } from '../session.ts';
import { type BillingQuery, filterSql } from './report.ts';

/** The requests that a line of a billing report counts: of every run, sent in its period. */
export type RequestQuery = Pick<BillingQuery, 'from' | 'until' | 'timeZone' | 'filter'> & {
  /** Undefined: any. */
  readonly kind?: RunKind | undefined;
};

/** The request that a page of the list begins after. Runs are listed from the newest, their requests in order. */
export type RequestCursor = { readonly runNumber: number; readonly request: number };

export type BilledRequest = RequestCursor & {
  readonly run: string;
  readonly messageId: string;
  readonly state: RequestState;
  /** When the last attempt began. */
  readonly sentAt: Date;
  readonly attempts: number;
  /** Without suppressed recipients. */
  readonly recipients: number;
  readonly delivered: number;
  readonly undelivered: number;
  /** Exact decimal text, by the delivery reports. */
  readonly price: string;
  readonly subAccount: string | null;
  readonly department: string | null;
  readonly chargeCode: string | null;
};

const slicesAtOnce = 200;
const payerDimensions = ['SubAccount', 'Department', 'ChargeCode'] as const;

/**
 * Lists requests that billing counts: those with an attempt. Reads slice by slice: booked entries name the slices of a
 * payer.
 *
 * @param after undefined for the first page
 */
export async function listBilledRequests(
  client: Snapshot,
  query: RequestQuery,
  { after, limit }: { readonly after: RequestCursor | undefined; readonly limit: number },
): Promise<BilledRequest[]> {
  const found: BilledRequest[] = [];
  let cursor = after;
  for (;;) {
    const slices = await readSlices(client, query, cursor);
    for (const slice of slices) {
      found.push(...(await readRequests(client, query, slice, limit - found.length)));
      if (found.length >= limit) return found;
      cursor = { runNumber: slice.runNumber, request: slice.last };
    }
    if (slices.length < slicesAtOnce) return found;
  }
}

type SliceOfPayer = {
  readonly run: string;
  readonly runNumber: number;
  readonly first: number;
  readonly last: number;
};

/** Finds slices that may have such requests, also those that are not booked yet. */
async function readSlices(
  client: Snapshot,
  { from, until, timeZone, filter, kind }: RequestQuery,
  after: RequestCursor | undefined,
): Promise<SliceOfPayer[]> {
  const values = [timeZone, from, until, kind, after?.runNumber, after?.request];
  const ofPayer = filterSql(filter, values, payerDimensions);
  const ofRun = filterSql(filter, values, ['run', 'account', 'campaign', 'channel']);
  const { rows } = await client.query<SliceOfPayer>(
    `
    WITH of_run AS MATERIALIZED (
      SELECT run_id, run_number
      FROM runs line
      WHERE ($4::text IS NULL OR kind = $4) AND ($5::integer IS NULL OR run_number <= $5) ${ofRun}
    ), of_payer AS (
      SELECT run_id, slice
      FROM billing_entries line
      WHERE ($2::text IS NULL OR booked >= $2::timestamp AT TIME ZONE $1 AND sent >= $2::timestamp AT TIME ZONE $1)
        AND ($3::text IS NULL OR sent < $3::timestamp AT TIME ZONE $1) ${ofPayer}
      UNION
      SELECT run_id, slice FROM unbooked_slices
    )
    SELECT run_id AS run, run_number AS "runNumber",
           CASE WHEN run_number = $5 THEN greatest(first_request, $6 + 1) ELSE first_request END AS first,
           last_request AS last
    FROM of_payer
    JOIN of_run USING (run_id)
    JOIN slices USING (run_id, slice)
    WHERE $5::integer IS NULL OR run_number < $5 OR last_request > $6::integer
    ORDER BY run_number DESC, first_request
    LIMIT ${slicesAtOnce}
    `,
    values,
  );
  return rows;
}

/** Outcomes are read once for the page: requests of one payer are neighbours, and share their blocks. */
async function readRequests(
  client: Snapshot,
  { from, until, timeZone, filter }: RequestQuery,
  { run, runNumber, first, last }: SliceOfPayer,
  limit: number,
): Promise<BilledRequest[]> {
  const values = [timeZone, from, until, run, first, last, limit];
  const ofPayer = filterSql(filter, values, payerDimensions);
  const { rows } = await client.query<Omit<BilledRequest, 'run' | 'runNumber'>>(
    `
    WITH sent AS MATERIALIZED (
      -- A FULL JOIN is hashed or merged. The planner cannot estimate the arrays, and would choose a nested loop.
      SELECT q.*, coalesce(a.started_at, q.updated_at) AS sent_at
      FROM requests_between($4, $5, $6) q
      FULL JOIN attempts_between($4, $5, $6) a ON a.request = q.request AND a.attempt = q.attempts
      OFFSET 0
    ), page AS MATERIALIZED (
      SELECT q.*, line.sub_account, line.department, line.charge_code
      FROM sent q
      JOIN envelopes line ON line.run_id = $4 AND line.envelope = q.envelope
      WHERE q.attempts > 0 AND q.state <> 'cancelled'
        AND ($2::text IS NULL OR quarter_of(q.sent_at) >= $2::timestamp AT TIME ZONE $1)
        AND ($3::text IS NULL OR quarter_of(q.sent_at) < $3::timestamp AT TIME ZONE $1) ${ofPayer}
      ORDER BY q.request
      LIMIT $7
    ), range AS MATERIALIZED (
      SELECT min(request) AS first, max(request) AS last FROM page
    ), outcome AS MATERIALIZED (
      SELECT request,
             (count(*) FILTER (WHERE outcome = 'delivered'))::integer AS delivered,
             (count(*) FILTER (WHERE outcome = 'undelivered'))::integer AS undelivered,
             (count(*) FILTER (WHERE outcome = 'cancelled'))::integer AS cancelled,
             sum(price) AS price
      FROM range
      CROSS JOIN LATERAL recipient_outcomes_between($4, first, last)
      GROUP BY request
    )
    SELECT p.request, p.message_id AS "messageId", p.state, p.attempts, p.sent_at AS "sentAt",
           p.recipients - coalesce(p.cancelled, 0) AS recipients, coalesce(p.delivered, 0) AS delivered,
           coalesce(p.undelivered, 0) AS undelivered, coalesce(p.price, 0)::text AS price,
           p.sub_account AS "subAccount", p.department, p.charge_code AS "chargeCode"
    FROM (
      SELECT page.*, o.delivered, o.undelivered, o.cancelled, o.price
      FROM page
      FULL JOIN outcome o ON o.request = page.request
      OFFSET 0
    ) p
    WHERE p.request IS NOT NULL
    ORDER BY p.request
    `,
    values,
  );
  return rows.map((row) => ({ ...row, run, runNumber }));
}
