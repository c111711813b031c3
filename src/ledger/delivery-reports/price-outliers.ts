import type { Channel } from '../../domain/message.ts';
import { batchOf } from '../batch.ts';
import type { Transaction } from '../session.ts';
import {
  type MatchedRecipient,
  type ParsedReport,
  type RecipientKey,
  recipientKeys,
} from './report-content.ts';

/** Prices that differ from the rate card by this factor need a check. */
const outlierFactor = 10;

/** Units of a report without units; a call counts as a minute. */
export const defaultUnits: Readonly<Record<Channel, number>> = {
  email: 1,
  sms: 1,
  fax: 1,
  voice: 60,
  tts: 60,
};

/**
 * SQL of a `WITH` clause `tariff`: rates of the tariffs in `priced`.
 *
 * @param priced has run_id, tariff, received_at and price
 */
export function tariffClause(priced: string): string {
  return `tariff AS MATERIALIZED (
    SELECT t.run_id, t.tariff, r.channel, rate.price AS rate
    FROM (
      SELECT run_id, tariff, max(received_at) AS received_at FROM ${priced} WHERE price <> 0 GROUP BY run_id, tariff
    ) t
    JOIN runs r ON r.run_id = t.run_id AND r.rates IS NOT NULL
    LEFT JOIN LATERAL rate_at(r.rates, t.tariff, t.received_at) rate ON true
  )`;
}

/**
 * SQL: whether a row's price is far from the expected one; 0 is not.
 *
 * @param row has units and price
 * @param tariff a row of `tariffClause`
 * @param units parameter with `defaultUnits` as JSON
 */
export function isPriceOutlier(tariff: string, row: string, units: string): string {
  const expected = expectedPrice(tariff, row, units);
  return `${row}.price <> 0 AND (abs(${row}.price) > ${outlierFactor} * ${expected} OR abs(${row}.price) * ${outlierFactor} < ${expected})`;
}

function expectedPrice(tariff: string, row: string, units: string): string {
  return `${tariff}.rate * greatest(coalesce(${row}.units, CAST(${units}::jsonb ->> ${tariff}.channel AS numeric)), 1)`;
}

/** The amounts are exact decimals. */
export type PriceOutlier = { readonly price: string; readonly expected: string };

type PricedReport = RecipientKey &
  Pick<ParsedReport<'delivery'>, 'report' | 'receivedAt' | 'units' | 'price'>;

const pricedReports = batchOf<PricedReport>({
  report_id: ['bigint', ({ report }) => report],
  run_id: ['text', ({ run }) => run],
  request: ['integer', ({ request }) => request],
  position: ['integer', ({ position }) => position],
  received_at: ['timestamptz', ({ receivedAt }) => receivedAt],
  units: ['numeric', ({ units }) => units],
  price: ['numeric', ({ price }) => price],
});

/** Finds prices that are far from the rate card. They are booked all the same, as the service charges them. */
export async function findPriceOutliers(
  client: Transaction,
  deliveries: readonly ParsedReport<'delivery'>[],
  recipients: ReadonlyMap<string, MatchedRecipient>,
): Promise<ReadonlyMap<string, PriceOutlier>> {
  const priced = deliveries.flatMap(({ report, receivedAt, units, price }) => {
    const recipient = recipients.get(report);
    return recipient && price !== null ? [{ ...recipient, report, receivedAt, units, price }] : [];
  });
  if (priced.length === 0) return new Map();
  // Not prepared: its plan would be one for small tables.
  const { rows } = await client.query<PriceOutlier & { readonly report: string }>(
    `
    WITH priced AS MATERIALIZED (
      SELECT p.*, CASE WHEN jsonb_array_length(r.rates -> 'tariffs') > 1 THEN (
               SELECT coalesce(c.tariff, 0)
               FROM recipients_between(p.run_id, p.request, p.request) c
               WHERE c.position = p.position
             ) ELSE 0 END AS tariff
      FROM ${pricedReports.table('p', 2)}
      JOIN runs r ON r.run_id = p.run_id AND r.rates IS NOT NULL
    ), ${tariffClause('priced')}
    SELECT p.report_id::text AS report, p.price::text AS price, trim_scale(${expectedPrice('t', 'p', '$1')})::text AS expected
    FROM priced p
    JOIN tariff t USING (run_id, tariff)
    WHERE ${isPriceOutlier('t', 'p', '$1')}
    `,
    [JSON.stringify(defaultUnits), ...pricedReports.values(priced)],
  );
  return new Map(rows.map(({ report, ...far }) => [report, far]));
}

/**
 * Counts recipients with a price outlier for their run, if it is watched. Call this before the reports are stored: a recipient
 * counts with its first report with a price, which may be read again or doubled.
 */
export async function countPriceOutliers(
  client: Transaction,
  recipients: ReadonlyMap<string, MatchedRecipient>,
  outliers: ReadonlyMap<string, PriceOutlier>,
): Promise<void> {
  const found = [...outliers.keys()].flatMap((report) => recipients.get(report) ?? []);
  if (found.length === 0) return;
  await client.query(
    `
    INSERT INTO watched_counts (run_id, is_canary, destination, outcome, recipients)
    SELECT run_id, false, '', 'other price', count(*)
    FROM (SELECT DISTINCT * FROM ${recipientKeys.table('k')}) k
    JOIN run_watches USING (run_id)
    WHERE NOT EXISTS (
      SELECT
      FROM unusual_delivery_reports u
      WHERE u.run_id = k.run_id AND u.request = k.request AND u.position = k.position AND u.price IS NOT NULL
    )
    GROUP BY run_id
    `,
    recipientKeys.values(found),
  );
}
