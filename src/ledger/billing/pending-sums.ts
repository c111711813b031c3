import { changeSumClauses } from './change-sums.ts';
import { priceOf } from './price-of.ts';
import { joinEnvelope, sliceSumClauses } from './slice-sums.ts';

/** Figures of an entry: sums, which can be added up in any grouping. */
export const figureColumns = [
  'requests',
  'recipients',
  'accepted',
  'failed',
  'unknown',
  'delivered',
  'undelivered',
  'unsent_delivered',
  'unsent_undelivered',
  'units',
  'expected_units',
  'price',
  'estimated',
  'estimated_tax',
  'unrated',
] as const;
export type FigureColumn = (typeof figureColumns)[number];

/** Figures that follow from requests; the others follow from outcomes. */
const requestFigures = [
  'requests',
  'recipients',
  'accepted',
  'failed',
  'unknown',
  'expected_units',
  'unrated',
] as const satisfies readonly FigureColumn[];

export const keyColumns = ['run_id', 'slice', 'sent', 'sub_account', 'department', 'charge_code'] as const;

function selectFigures(named: Partial<Record<FigureColumn, string>>): string {
  return figureColumns.map((column) => `${named[column] ?? '0'} AS ${column}`).join(', ');
}

const keys = keyColumns.join(', ');

/**
 * SQL of `WITH` clauses that end with `pending`: unbooked sums, with the columns of an entry except `booked`. They
 * need `open_slice` with the slices to sum, and `change` from `pendingChanges`.
 *
 * A request is sent when its last attempt begins; untried and cancelled requests do not count. What is reported of their
 * recipients has figures of its own: the service charges for it. A slice may be partly booked: its sums are compared
 * with its entries.
 *
 * Single rows are looked up by key (LATERAL with LIMIT or OFFSET); the rest uses FULL JOIN, which Postgres hashes or
 * merges. Without statistics, right after a run, nested loops took 0.4 ms for each request.
 */
export const pendingClauses = `
  ${sliceSumClauses}, of_tariff AS (
    SELECT ${keys}, channel, state, tariff, sum(requests) AS requests, sum(recipients) AS recipients,
           CASE channel WHEN 'sms' THEN sum(parts) WHEN 'email' THEN sum(recipients) END AS units
    FROM (SELECT c.*, r.channel FROM counted c JOIN runs r USING (run_id)) c
    ${joinEnvelope('c')}
    GROUP BY ${keys}, channel, state, tariff
  ), ${changeSumClauses}, part AS (
    SELECT ${keys}, ${selectFigures({
      requests: 't.requests',
      recipients: 't.recipients',
      accepted: `CASE WHEN t.state = 'accepted' THEN t.recipients ELSE 0 END`,
      failed: `CASE WHEN t.state IN ('rejected', 'failed') THEN t.recipients ELSE 0 END`,
      unknown: `CASE WHEN t.state IN ('sending', 'in_doubt', 'abandoned') THEN t.recipients ELSE 0 END`,
    })}
    FROM of_tariff t
    UNION ALL
    SELECT ${keys}, ${selectFigures({
      expected_units: 'coalesce(t.units, 0)',
      estimated: 'coalesce(t.units * rate.price, 0)',
      estimated_tax: 'coalesce(t.units * rate.tax, 0)',
      unrated: 'CASE WHEN rate.price IS NULL THEN t.recipients ELSE 0 END',
    })}
    FROM of_tariff t
    JOIN runs USING (run_id) ${priceOf('runs', 't.tariff', 't.sent')}
    WHERE t.state = 'accepted'
    UNION ALL
    -- Fax pages and voice seconds are known from delivery reports only.
    SELECT ${keys}, ${selectFigures({
      delivered: 'd.delivered',
      undelivered: 'd.undelivered',
      unsent_delivered: 'd.unsent_delivered',
      unsent_undelivered: 'd.unsent_undelivered',
      units: 'd.units',
      price: 'd.price',
      estimated: `CASE WHEN d.channel IN ('sms', 'email') THEN 0 ELSE coalesce(d.units * rate.price, 0) END`,
      estimated_tax: `CASE WHEN d.channel IN ('sms', 'email') THEN 0 ELSE coalesce(d.units * rate.tax, 0) END`,
    })}
    FROM changed d
    JOIN runs USING (run_id) ${priceOf('runs', 'd.tariff', 'd.sent')}
    UNION ALL
    SELECT ${keyColumns.map((column) => `n.${column}`).join(', ')}, ${selectFigures({
      ...Object.fromEntries(requestFigures.map((column) => [column, `-n.${column}`])),
      estimated: `CASE WHEN r.channel IN ('sms', 'email') THEN -n.estimated ELSE 0 END`,
      estimated_tax: `CASE WHEN r.channel IN ('sms', 'email') THEN -n.estimated_tax ELSE 0 END`,
    })}
    FROM open_slice
    JOIN runs r ON r.run_id = open_slice.run_id
    JOIN billing_entries n ON n.run_id = open_slice.run_id AND n.slice = open_slice.slice
  ), pending AS (
    SELECT ${keys}, ${figureColumns.map((column) => `sum(${column}) AS ${column}`).join(', ')}
    FROM part
    GROUP BY ${keys}
    HAVING ${figureColumns.map((column) => `sum(${column}) <> 0`).join(' OR ')}
  )`;
