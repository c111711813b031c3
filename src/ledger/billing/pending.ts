import { requestsInBlock } from './blocks.ts';
import { priceOf } from './price-of.ts';

/** The figures of an entry: each is a sum, so entries can be added up in any grouping. */
export const figureColumns = [
  'requests',
  'recipients',
  'accepted',
  'failed',
  'unknown',
  'delivered',
  'undelivered',
  'units',
  'expected_units',
  'price',
  'estimated',
  'estimated_tax',
  'unrated',
] as const;
export type FigureColumn = (typeof figureColumns)[number];

/** What follows from requests; the others follow from what became of single recipients. */
const ofRequests = [
  'requests',
  'recipients',
  'accepted',
  'failed',
  'unknown',
  'expected_units',
  'unrated',
] as const satisfies readonly FigureColumn[];

/** Who pays, and when it was sent. */
export const keyColumns = ['run_id', 'block', 'sent', 'sub_account', 'department', 'charge_code'] as const;

/** SQL: all figures in their order, those that are not named 0. */
function figures(named: Partial<Record<FigureColumn, string>>): string {
  return figureColumns.map((column) => `${named[column] ?? '0'} AS ${column}`).join(', ');
}

const keys = keyColumns.join(', ');

/** The quarter of an hour of an attempt; every zone's days begin with one. */
const quarterOf = (attempt: string): string => `date_bin('15 minutes', ${attempt}, 'epoch')`;

/** SQL: whether a row is of a request of the `block`. */
const inBlock = (row: string): string =>
  `${row}.request BETWEEN block.block * ${requestsInBlock} AND block.block * ${requestsInBlock} + ${requestsInBlock - 1}`;

/**
 * SQL of `WITH` clauses: what is not in the entries yet, ending with `pending`, which has the columns of an entry but
 * for `booked`. It wants a `block` with the blocks to look at and a `change` with rows of `billing_changes`.
 *
 * A request counts as sent when its last attempt began; one that was never tried, or cancelled, does not count. What a
 * block comes to is compared with its entries, so it may be in them already, as a whole or as it was earlier.
 */
export const pendingClauses = `
  sent_request AS MATERIALIZED (
    -- Block by block, each by its range of keys: joined all at once, each request of a run is held against all its blocks.
    -- With 98 blocks of 400,000 requests, of which half were sent, that took 4 to 13 s, this 2 to 4 s; and it grows with
    -- the square of them.
    SELECT q.*, block.run_id, block.block
    FROM block
    JOIN runs r ON r.run_id = block.run_id
    CROSS JOIN LATERAL (
      SELECT q.request, q.state, r.channel, e.sub_account, e.department, e.charge_code, c.lines, c.parts, c.tariffs,
             ${quarterOf('coalesce(a.started_at, q.updated_at, r.created_at)')} AS sent,
             q.recipients - coalesce(cardinality(left_out.positions), 0) AS recipients,
             coalesce(left_out.positions, '{}') AS left_out
      FROM requests q
      -- Each by its key, whatever is thought of how many there are: right after a run there are no statistics yet, and a
      -- join holds each request of a block against all the others, at 0.4 ms a request.
      CROSS JOIN LATERAL (
        SELECT sub_account, department, charge_code
        FROM envelopes
        WHERE run_id = block.run_id AND envelope = q.envelope
        OFFSET 0
      ) e
      CROSS JOIN LATERAL (
        SELECT lines, parts, tariffs FROM chunks_between(block.run_id, q.request, q.request) OFFSET 0
      ) c
      LEFT JOIN LATERAL (
        SELECT started_at
        FROM attempts
        WHERE run_id = block.run_id AND request = q.request AND attempt = q.attempts
        OFFSET 0
      ) a ON true
      CROSS JOIN LATERAL (
        SELECT array_agg(position) AS positions
        FROM recipient_outcomes
        WHERE run_id = block.run_id AND request = q.request AND outcome = 'cancelled'
      ) left_out
      WHERE q.run_id = block.run_id AND ${inBlock('q')} AND q.state NOT IN ('planned', 'cancelled')
      OFFSET 0
    ) q
  ), of_tariff AS (
    SELECT ${keys}, channel, tariff, count(*) AS recipients,
           CASE channel WHEN 'sms' THEN sum(parts) WHEN 'email' THEN count(*) END AS units
    FROM (
      SELECT ${keys}, channel, each.parts, CASE WHEN tariffs IS NULL THEN 0 ELSE each.tariff END AS tariff
      FROM sent_request s
      CROSS JOIN LATERAL unnest(s.lines, s.parts, s.tariffs) WITH ORDINALITY AS each (line, parts, tariff, position)
      WHERE s.state = 'accepted' AND each.position <> ALL (s.left_out)
    ) accepted
    GROUP BY ${keys}, channel, tariff
  ), change_of_request AS MATERIALIZED (
    -- Whose it is matters only where the recipients of a run have different tariffs.
    SELECT d.run_id, d.request, d.attempt, CASE WHEN r.several_tariffs THEN d.position END AS position,
           sum(d.delivered) AS delivered, sum(d.undelivered) AS undelivered,
           coalesce(sum(d.units), 0) AS units, coalesce(sum(d.price), 0) AS price
    FROM change d
    JOIN (
      SELECT run_id, coalesce(jsonb_array_length(rates -> 'tariffs'), 0) > 1 AS several_tariffs FROM runs
    ) r ON r.run_id = d.run_id
    GROUP BY 1, 2, 3, 4
  ), changed AS (
    SELECT d.run_id, d.request / ${requestsInBlock} AS block,
           ${quarterOf('coalesce(a.started_at, q.updated_at, r.created_at)')} AS sent,
           e.sub_account, e.department, e.charge_code, r.channel,
           CASE WHEN c.tariffs IS NULL THEN 0 ELSE c.tariffs[d.position] END AS tariff,
           sum(d.delivered) AS delivered, sum(d.undelivered) AS undelivered,
           sum(d.units) AS units, sum(d.price) AS price
    FROM change_of_request d
    JOIN runs r ON r.run_id = d.run_id
    JOIN requests q ON q.run_id = d.run_id AND q.request = d.request
    JOIN envelopes e ON e.run_id = q.run_id AND e.envelope = q.envelope
    LEFT JOIN LATERAL chunks_between(q.run_id, q.request, q.request) c ON d.position IS NOT NULL
    LEFT JOIN attempts a ON a.run_id = q.run_id AND a.request = q.request AND a.attempt = coalesce(d.attempt, q.attempts)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), part AS (
    SELECT ${keys}, ${figures({
      requests: '1',
      recipients: 'recipients',
      accepted: `CASE WHEN state = 'accepted' THEN recipients ELSE 0 END`,
      failed: `CASE WHEN state IN ('rejected', 'failed') THEN recipients ELSE 0 END`,
      unknown: `CASE WHEN state IN ('sending', 'in_doubt', 'abandoned') THEN recipients ELSE 0 END`,
    })}
    FROM sent_request
    UNION ALL
    SELECT ${keys}, ${figures({
      expected_units: 'coalesce(t.units, 0)',
      estimated: 'coalesce(t.units * rate.price, 0)',
      estimated_tax: 'coalesce(t.units * rate.tax, 0)',
      unrated: 'CASE WHEN rate.price IS NULL THEN t.recipients ELSE 0 END',
    })}
    FROM of_tariff t
    JOIN runs USING (run_id) ${priceOf('runs', 't.tariff', 't.sent')}
    UNION ALL
    -- What is counted only in the reports is estimated by them.
    SELECT ${keys}, ${figures({
      delivered: 'd.delivered',
      undelivered: 'd.undelivered',
      units: 'd.units',
      price: 'd.price',
      estimated: `CASE WHEN d.channel IN ('sms', 'email') THEN 0 ELSE coalesce(d.units * rate.price, 0) END`,
      estimated_tax: `CASE WHEN d.channel IN ('sms', 'email') THEN 0 ELSE coalesce(d.units * rate.tax, 0) END`,
    })}
    FROM changed d
    JOIN runs USING (run_id) ${priceOf('runs', 'd.tariff', 'd.sent')}
    UNION ALL
    SELECT ${keyColumns.map((column) => `n.${column}`).join(', ')}, ${figures({
      ...Object.fromEntries(ofRequests.map((column) => [column, `-n.${column}`])),
      estimated: `CASE WHEN r.channel IN ('sms', 'email') THEN -n.estimated ELSE 0 END`,
      estimated_tax: `CASE WHEN r.channel IN ('sms', 'email') THEN -n.estimated_tax ELSE 0 END`,
    })}
    FROM block
    JOIN runs r ON r.run_id = block.run_id
    JOIN billing_entries n ON n.run_id = block.run_id AND n.block = block.block
  ), pending AS (
    SELECT ${keys}, ${figureColumns.map((column) => `sum(${column}) AS ${column}`).join(', ')}
    FROM part
    GROUP BY ${keys}
    HAVING ${figureColumns.map((column) => `sum(${column}) <> 0`).join(' OR ')}
  )`;
