import type pg from 'pg';

/** Figures of a billing line. Units and price are exact decimals, as text. */
export type BillingFigures = {
  readonly requests: number;
  readonly recipients: number;
  /** Every recipient the service took, delivered or not. */
  readonly accepted: number;
  readonly delivered: number;
  readonly undelivered: number;
  /** Recipients whose request is in doubt or abandoned: nobody knows whether the service took it. */
  readonly unknown: number;
  readonly units: string;
  readonly price: string;
};

/** Null where nobody set the value. */
export type BillingLine = {
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
} & BillingFigures;

/** Lines by SubAccount and ChargeCode, and their sum: added up by Postgres, never in floating point. */
export type BillingReport = { readonly lines: readonly BillingLine[]; readonly total: BillingFigures };

type DbBillingRow = BillingFigures & {
  readonly sub_account: string | null;
  readonly charge_code: string | null;
  readonly is_total: boolean;
};

/** @param runs only these; undefined for all */
export async function reportBilling(
  pool: pg.Pool,
  runs: readonly string[] | undefined,
): Promise<BillingReport> {
  const { rows } = await pool.query<DbBillingRow>(
    `
    WITH by_request AS (
      SELECT run_id, request,
             count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered,
             sum(units) AS units, sum(price) AS price
      FROM recipient_outcomes
      WHERE $1::text[] IS NULL OR run_id = ANY ($1)
      GROUP BY run_id, request
    )
    SELECT e.sub_account, e.charge_code, grouping(e.sub_account) = 1 AS is_total,
           count(*)::integer AS requests,
           coalesce(sum(q.recipients), 0)::integer AS recipients,
           coalesce(sum(q.recipients) FILTER (WHERE q.state = 'accepted'), 0)::integer AS accepted,
           coalesce(sum(b.delivered), 0)::integer AS delivered,
           coalesce(sum(b.undelivered), 0)::integer AS undelivered,
           coalesce(sum(q.recipients) FILTER (WHERE q.state IN ('in_doubt', 'abandoned')), 0)::integer AS unknown,
           coalesce(sum(b.units), 0)::text AS units,
           coalesce(sum(b.price), 0)::text AS price
    FROM requests q
    JOIN envelopes e USING (run_id, envelope)
    LEFT JOIN by_request b USING (run_id, request)
    WHERE $1::text[] IS NULL OR q.run_id = ANY ($1)
    GROUP BY GROUPING SETS ((e.sub_account, e.charge_code), ())
    ORDER BY is_total DESC, e.sub_account NULLS LAST, e.charge_code NULLS LAST
    `,
    [runs ?? null],
  );
  const [total = noFigures, ...lines] = rows;
  return {
    lines: lines.map((row) => ({
      subAccount: row.sub_account,
      chargeCode: row.charge_code,
      ...figuresOf(row),
    })),
    total: figuresOf(total),
  };
}

const noFigures: BillingFigures = {
  requests: 0,
  recipients: 0,
  accepted: 0,
  delivered: 0,
  undelivered: 0,
  unknown: 0,
  units: '0',
  price: '0',
};

function figuresOf(row: BillingFigures): BillingFigures {
  const { requests, recipients, accepted, delivered, undelivered, unknown, units, price } = row;
  return { requests, recipients, accepted, delivered, undelivered, unknown, units, price };
}
