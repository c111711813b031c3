import type pg from 'pg';
import type { Channel } from '../../domain/message.ts';
import { priceOf } from '../billing/price-of.ts';
import type { MatchedRecipient } from './matched.ts';
import type { ReadReport } from './reading.ts';

/** A price that is so many times what the rate card says, or so small a part of it, is looked at by a person. */
const farTimes = 10;

/** Units of a report that says none; a call has a minute. */
const usualUnits: Readonly<Record<Channel, number>> = { email: 1, sms: 1, fax: 1, voice: 60, tts: 60 };

/** A price that is far from the rate card of its run. Exact decimals. */
export type FarPrice = { readonly price: string; readonly expected: string };

/**
 * The prices of these reports that are far from what the rate cards of their runs say; a price of nothing is none. They
 * count all the same: the service says what it charges.
 *
 * @param recipients by report
 * @returns by report
 */
export async function findFarPrices(
  client: pg.ClientBase,
  deliveries: readonly ReadReport<'delivery'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
): Promise<ReadonlyMap<string, FarPrice>> {
  const priced = deliveries.flatMap(({ report, receivedAt, units, price }) => {
    const recipient = recipients.get(report);
    return recipient && price !== null ? [{ ...recipient, report, receivedAt, units, price }] : [];
  });
  if (priced.length === 0) return new Map();
  // Each tariff is looked up once, not for each recipient. Not a prepared statement: its plan would be that of small tables.
  const { rows } = await client.query<FarPrice & { readonly report: string }>(
    `
    WITH rated AS MATERIALIZED (
      SELECT run_id, channel, rates, jsonb_array_length(rates -> 'tariffs') > 1 AS has_tariffs
      FROM runs
      WHERE run_id = ANY ($2) AND rates IS NOT NULL
    ), priced AS MATERIALIZED (
      SELECT p.*, CASE WHEN r.has_tariffs THEN (
               SELECT c.tariff
               FROM recipients_between(p.run_id, p.request, p.request) c
               WHERE c.position = p.position
             ) ELSE 0 END AS tariff,
             greatest(coalesce(p.units, CAST($8::jsonb ->> r.channel AS numeric)), 1) AS paid_for
      FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::integer[], $5::timestamptz[], $6::numeric[], $7::numeric[])
        AS p (report_id, run_id, request, position, received_at, units, price)
      JOIN rated r USING (run_id)
      WHERE p.price <> 0
    ), tariff AS MATERIALIZED (
      SELECT t.run_id, t.tariff, rate.price AS rate
      FROM (SELECT run_id, tariff, max(received_at) AS received_at FROM priced GROUP BY run_id, tariff) t
      JOIN rated r USING (run_id)
      ${priceOf('r', 't.tariff', 't.received_at')}
    )
    SELECT report_id::text AS report, price::text AS price, trim_scale(rate * paid_for)::text AS expected
    FROM priced
    JOIN tariff USING (run_id, tariff)
    WHERE abs(price) > ${farTimes} * rate * paid_for OR abs(price) * ${farTimes} < rate * paid_for
    `,
    [
      priced.map(({ report }) => report),
      priced.map(({ run }) => run),
      priced.map(({ request }) => request),
      priced.map(({ position }) => position),
      priced.map(({ receivedAt }) => receivedAt),
      priced.map(({ units }) => units),
      priced.map(({ price }) => price),
      JSON.stringify(usualUnits),
    ],
  );
  return new Map(rows.map(({ report, ...far }) => [report, far]));
}
