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
  const { rows } = await client.query<FarPrice & { readonly report: string }>({
    name: 'far-prices',
    text: `
    SELECT p.report_id::text AS report, p.price::text AS price, trim_scale(expected)::text AS expected
    FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::integer[], $5::timestamptz[], $6::numeric[], $7::numeric[])
      AS p (report_id, run_id, request, position, received_at, units, price)
    JOIN runs r ON r.run_id = p.run_id AND r.rates IS NOT NULL
    CROSS JOIN LATERAL (
      SELECT coalesce(tariffs[p.position], 0) AS tariff
      FROM chunks
      WHERE run_id = p.run_id AND request = p.request
      LIMIT 1
    ) c
    ${priceOf('r', 'c.tariff', 'p.received_at')}
    CROSS JOIN LATERAL (
      SELECT rate.price * greatest(coalesce(p.units, CAST($8::jsonb ->> r.channel AS numeric)), 1) AS expected
    ) e
    WHERE p.price <> 0 AND (abs(p.price) > ${farTimes} * expected OR abs(p.price) * ${farTimes} < expected)
    `,
    values: [
      priced.map(({ report }) => report),
      priced.map(({ run }) => run),
      priced.map(({ request }) => request),
      priced.map(({ position }) => position),
      priced.map(({ receivedAt }) => receivedAt),
      priced.map(({ units }) => units),
      priced.map(({ price }) => price),
      JSON.stringify(usualUnits),
    ],
  });
  return new Map(rows.map(({ report, ...far }) => [report, far]));
}
