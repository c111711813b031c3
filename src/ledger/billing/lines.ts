import type pg from 'pg';

/** One line of the billing report. Units and price are exact decimals, as text. */
export type BillingLine = {
  /** Null where nobody set it. */
  readonly subAccount: string | null;
  readonly chargeCode: string | null;
  readonly requests: number;
  readonly recipients: number;
  readonly accepted: number;
  readonly delivered: number;
  readonly undelivered: number;
  /** Recipients whose request is in doubt or abandoned: nobody knows whether the service took it. */
  readonly unknown: number;
  readonly units: string;
  readonly price: string;
};

type DbBillingRow = Omit<BillingLine, 'subAccount' | 'chargeCode'> & {
  readonly sub_account: string | null;
  readonly charge_code: string | null;
};

/**
 * Recipients, units and prices by SubAccount and ChargeCode. `accepted` counts every recipient the service took,
 * delivered or not.
 *
 * @param runs only these; undefined for all
 */
export async function billingLines(pool: pg.Pool, runs: readonly string[] | undefined): Promise<BillingLine[]> {
  const { rows } = await pool.query<DbBillingRow>(
    `
    WITH by_request AS (
      SELECT run_id, request,
             count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered,
             sum(units) AS units, sum(price) AS price
      FROM recipients
      WHERE outcome IS NOT NULL AND ($1::text[] IS NULL OR run_id = ANY ($1))
      GROUP BY run_id, request
    )
    SELECT e.sub_account, e.charge_code,
           count(*)::integer AS requests,
           sum(q.recipients)::integer AS recipients,
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
    GROUP BY e.sub_account, e.charge_code
    ORDER BY e.sub_account NULLS LAST, e.charge_code NULLS LAST
    `,
    [runs ?? null],
  );
  return rows.map(({ sub_account, charge_code, ...figures }) => ({
    subAccount: sub_account,
    chargeCode: charge_code,
    ...figures,
  }));
}
