import type { RequestState } from '../../domain/runs.ts';
import type { Snapshot } from '../session.ts';

/** The payer whose requests are listed. A name is undefined for any, null for none. */
export type Payer = {
  readonly SubAccount?: string | null | undefined;
  readonly Department?: string | null | undefined;
  readonly ChargeCode?: string | null | undefined;
};

export type BilledRequest = {
  readonly request: number;
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

/**
 * Lists the requests of a run that billing counts for a payer: those with an attempt, in their order. Reads slice by
 * slice: booked entries name the slices of a payer.
 *
 * @param after a request; 0 for the first
 */
export async function listBilledRequests(
  client: Snapshot,
  run: string,
  payer: Payer,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<BilledRequest[]> {
  const conditions = payerConditions(payer);
  const found: BilledRequest[] = [];
  const { rows: slices } = await client.query<{ first: number; last: number }>(slicesOfPayer, [
    run,
    after,
    ...conditions,
  ]);
  for (const { first, last } of slices) {
    if (found.length >= limit) break;
    const { rows } = await client.query<BilledRequest>(requestsOfPayer, [
      run,
      Math.max(first, after + 1),
      last,
      limit - found.length,
      ...conditions,
    ]);
    found.push(...rows);
  }
  return found;
}

/** Returns a flag and a value for each part of the payer. */
function payerConditions({ SubAccount, Department, ChargeCode }: Payer): unknown[] {
  return [SubAccount, Department, ChargeCode].flatMap((name) => [name !== undefined, name ?? null]);
}

/** SQL; the parameters of `payerConditions` begin at `first`. */
const isOfPayer = (row: string, first: number): string =>
  ['sub_account', 'department', 'charge_code']
    .map((column, index) => {
      const [asked, name] = [first + 2 * index, first + 2 * index + 1];
      return `(NOT $${asked}::boolean OR ${row}.${column} IS NOT DISTINCT FROM $${name}::text)`;
    })
    .join(' AND ');

/** Also slices that are not booked yet. */
const slicesOfPayer = `
  SELECT first_request AS first, last_request AS last
  FROM slices s
  WHERE run_id = $1 AND last_request > $2
    AND (
      EXISTS (SELECT FROM billing_entries n WHERE n.run_id = $1 AND n.slice = s.slice AND ${isOfPayer('n', 3)})
      OR EXISTS (SELECT FROM billing_slices b WHERE b.run_id = $1 AND b.slice = s.slice AND b.open)
    )
  ORDER BY first_request
`;

/** Outcomes and attempts are read once for the page: requests of one payer are neighbours, and share their blocks. */
const requestsOfPayer = `
  WITH page AS MATERIALIZED (
    SELECT q.*, e.sub_account, e.department, e.charge_code
    FROM requests_between($1, $2, $3) q
    JOIN envelopes e ON e.run_id = $1 AND e.envelope = q.envelope
    WHERE q.attempts > 0 AND q.state <> 'cancelled' AND ${isOfPayer('e', 5)}
    ORDER BY q.request
    LIMIT $4
  ), range AS MATERIALIZED (
    SELECT min(request) AS first, max(request) AS last FROM page
  ), outcome AS MATERIALIZED (
    SELECT request,
           (count(*) FILTER (WHERE outcome = 'delivered'))::integer AS delivered,
           (count(*) FILTER (WHERE outcome = 'undelivered'))::integer AS undelivered,
           (count(*) FILTER (WHERE outcome = 'cancelled'))::integer AS cancelled,
           sum(price) AS price
    FROM range
    CROSS JOIN LATERAL recipient_outcomes_between($1, first, last)
    GROUP BY request
  ), attempt AS MATERIALIZED (
    SELECT request, attempt, started_at FROM range CROSS JOIN LATERAL attempts_between($1, first, last)
  )
  SELECT p.request, p.message_id AS "messageId", p.state, p.attempts, coalesce(p.started_at, p.updated_at) AS "sentAt",
         p.recipients - coalesce(p.cancelled, 0) AS recipients, coalesce(p.delivered, 0) AS delivered,
         coalesce(p.undelivered, 0) AS undelivered, coalesce(p.price, 0)::text AS price,
         p.sub_account AS "subAccount", p.department, p.charge_code AS "chargeCode"
  FROM (
    -- A FULL JOIN is hashed or merged. The planner cannot estimate the arrays, and would choose a nested loop.
    SELECT page.*, o.delivered, o.undelivered, o.cancelled, o.price, a.started_at
    FROM page
    FULL JOIN outcome o ON o.request = page.request
    FULL JOIN attempt a ON a.request = page.request AND a.attempt = page.attempts
    OFFSET 0
  ) p
  WHERE p.request IS NOT NULL
  ORDER BY p.request
`;
