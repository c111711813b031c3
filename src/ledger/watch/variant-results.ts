import { comparedAddress } from '../compared-address.ts';
import { recipientOf } from '../request-rows.ts';
import type { ReadConnection } from '../session.ts';

/** What came of one variant of a run. Money is exact decimal text in the currency of the run's rates. */
export type VariantResult = {
  /** From 1. */
  readonly variant: number;
  /** Null: erased. */
  readonly name: string | null;
  /** Of requests that were sent, or may have been. */
  readonly recipients: number;
  readonly accepted: number;
  /** Their requests are being sent, or may have been accepted. */
  readonly unknown: number;
  readonly delivered: number;
  readonly undelivered: number;
  readonly replied: number;
  readonly optedOut: number;
  readonly price: string;
  readonly estimated: string;
  /** Null: the run has no rates. */
  readonly currency: string | null;
};

/** Whether the campaign of a run has variants. */
export async function hasVariants(client: ReadConnection, run: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    'SELECT EXISTS (SELECT FROM slices WHERE run_id = $1 AND variant IS NOT NULL) AS found',
    [run],
  );
  return rows[0]?.found === true;
}

/**
 * Reads what came of each variant that was sent, by its slices. A reply or an opt-out counts once for each recipient.
 *
 * @param entries `billing_entries` has what is booked, and is faster
 * @returns nothing for a run without variants
 */
export async function readVariantResults(
  client: ReadConnection,
  run: string,
  entries: 'all_entries' | 'billing_entries' = 'all_entries',
): Promise<VariantResult[]> {
  const { rows } = await client.query<VariantResult>(
    `
    WITH part AS MATERIALIZED (
      SELECT coalesce(variant, divided) AS variant, slice, first_request, last_request
      FROM slices s
      -- Volley 0.3.0 divides requests of one slice into a slice without a variant.
      LEFT JOIN LATERAL (
        SELECT e.variant AS divided
        FROM requests_between($1, s.first_request, s.first_request) q
        JOIN envelopes e ON e.run_id = $1 AND e.envelope = q.envelope
        WHERE s.variant IS NULL
      ) d ON true
      WHERE run_id = $1 AND coalesce(variant, divided) IS NOT NULL
    ), sent AS (
      SELECT variant, sum(recipients)::float8 AS recipients, sum(accepted)::float8 AS accepted,
             sum(unknown)::float8 AS unknown, sum(delivered)::float8 AS delivered,
             sum(undelivered)::float8 AS undelivered, sum(price) AS price, sum(estimated) AS estimated
      FROM ${entries}
      JOIN part USING (slice)
      WHERE run_id = $1
      GROUP BY variant
    ), answered AS (
      SELECT variant, count(DISTINCT (request, position)) FILTER (WHERE state = 'inbound')::float8 AS replied,
             count(DISTINCT (request, position)) FILTER (WHERE opted_out)::float8 AS opted_out
      FROM (
        SELECT k.request, k.position, k.state, EXISTS (
                 SELECT
                 FROM suppressions s
                 WHERE s.channel = r.channel AND s.address = ${comparedAddress('coalesce(c.address, k.address)')}
                   AND s.run_id = $1 AND s.source IN ('reply', 'report')
               ) AS opted_out
        FROM unusual_delivery_reports k
        JOIN runs r USING (run_id)
        LEFT JOIN ${recipientOf('k.run_id', 'k.request', 'k.position')} c ON true
        WHERE k.run_id = $1
      ) k
      JOIN part ON request BETWEEN first_request AND last_request
      GROUP BY variant
    )
    SELECT variant, definition #>> ARRAY['variants', (variant - 1)::text, 'name'] AS name,
           coalesce(recipients, 0) AS recipients, coalesce(accepted, 0) AS accepted, coalesce(unknown, 0) AS unknown,
           coalesce(delivered, 0) AS delivered, coalesce(undelivered, 0) AS undelivered,
           coalesce(replied, 0) AS replied, coalesce(opted_out, 0) AS "optedOut",
           coalesce(price, 0)::text AS price, coalesce(estimated, 0)::text AS estimated,
           rates ->> 'currency' AS currency
    FROM (SELECT DISTINCT variant FROM part) v
    JOIN runs ON run_id = $1
    LEFT JOIN sent USING (variant)
    LEFT JOIN answered USING (variant)
    WHERE EXISTS (SELECT FROM part)
    ORDER BY variant
    `,
    [run],
  );
  return rows;
}
