import { recipientsOf } from '../request-rows.ts';
import { rangeOfBlock, requestsInBlock } from './blocks.ts';
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

const payers = 'e.sub_account, e.department, e.charge_code';

/** SQL to join: the envelope of a row, looked up for each. */
const envelopeOf = (row: string): string => `CROSS JOIN LATERAL (
      SELECT sub_account, department, charge_code
      FROM envelopes
      WHERE run_id = ${row}.run_id AND envelope = ${row}.envelope
      OFFSET 0
    ) e`;

/**
 * SQL of `WITH` clauses: what is not in the entries yet, ending with `pending`, which has the columns of an entry but
 * for `booked`. It wants a `block` with the blocks to look at and a `change` with rows of `billing_changes`.
 *
 * A request counts as sent when its last attempt began; one that was never tried, or cancelled, does not count. What a
 * block comes to is compared with its entries, so it may be in them already, as a whole or as it was earlier.
 *
 * Each range of requests is read for itself, and joined by FULL JOIN, which Postgres does by hashing or merging whatever it
 * thinks of how many rows there are: right after a run there are no statistics yet, and a nested loop holds each request of
 * a block against all the others, at 0.4 ms a request.
 */
export const pendingClauses = `
  change_of_request AS MATERIALIZED (
    -- Whose it is matters only where the recipients of a run have different tariffs.
    SELECT d.run_id, d.request, d.attempt, CASE WHEN r.several_tariffs THEN d.position END AS position,
           sum(d.delivered) AS delivered, sum(d.undelivered) AS undelivered,
           coalesce(sum(d.units), 0) AS units, coalesce(sum(d.price), 0) AS price
    FROM change d
    JOIN (
      SELECT run_id, coalesce(jsonb_array_length(rates -> 'tariffs'), 0) > 1 AS several_tariffs FROM runs
    ) r ON r.run_id = d.run_id
    GROUP BY 1, 2, 3, 4
  ), changed_request AS MATERIALIZED (
    SELECT DISTINCT run_id, request FROM change_of_request WHERE position IS NOT NULL
  ), range AS MATERIALIZED (
    -- Of a block that is not looked at as a whole, from the first request with a change to the last.
    SELECT run_id, block, min(first) AS first, max(last) AS last, bool_or(whole) AS whole, bool_or(NOT whole) AS changed
    FROM (
      SELECT run_id, block, first, last, true AS whole
      FROM block
      CROSS JOIN LATERAL (VALUES (${rangeOfBlock('block')})) AS requests (first, last)
      UNION ALL
      SELECT run_id, request / ${requestsInBlock}, request, request, false
      FROM change_of_request
    ) wanted
    GROUP BY run_id, block
  ), request AS MATERIALIZED (
    SELECT q.*, r.run_id, r.channel, range.block, range.whole, range.changed, coalesce(updated_at, r.created_at) AS changed_at
    FROM range
    JOIN runs r USING (run_id)
    CROSS JOIN LATERAL (
      SELECT request, envelope, state, attempts, updated_at
      FROM requests_between(range.run_id, range.first, range.last)
      OFFSET 0
    ) q
  ), attempt AS MATERIALIZED (
    SELECT range.run_id, range.changed, a.*
    FROM range
    CROSS JOIN LATERAL (
      SELECT request, attempt, started_at
      FROM attempts_between(range.run_id, range.first, range.last)
      OFFSET 0
    ) a
  ), recipient AS MATERIALIZED (
    SELECT run_id, p.*
    FROM range
    CROSS JOIN LATERAL (
      SELECT s.request, coalesce(s.tariff, 0) AS tariff, count(*) AS recipients, sum(s.parts) AS parts
      FROM recipients_between(range.run_id, range.first, range.last) s
      FULL JOIN (
        SELECT request, position
        FROM recipient_outcomes
        WHERE run_id = range.run_id AND request BETWEEN range.first AND range.last AND outcome = 'cancelled'
      ) left_out USING (request, position)
      WHERE left_out.position IS NULL
      GROUP BY 1, 2
      OFFSET 0
    ) p
    WHERE whole
  ), sent_request AS MATERIALIZED (
    SELECT q.run_id, q.block, q.request, q.channel, q.state, q.sent, ${payers}
    FROM (
      SELECT q.*, ${quarterOf('coalesce(a.started_at, q.changed_at)')} AS sent
      FROM (SELECT * FROM request WHERE whole AND state NOT IN ('planned', 'cancelled')) q
      FULL JOIN attempt a ON a.run_id = q.run_id AND a.request = q.request AND a.attempt = q.attempts
      OFFSET 0
    ) q
    ${envelopeOf('q')}
  ), of_tariff AS (
    SELECT ${keys}, channel, state, tariff, sum(recipients) AS recipients,
           CASE channel WHEN 'sms' THEN sum(parts) WHEN 'email' THEN sum(recipients) END AS units
    FROM (
      SELECT s.*, p.tariff, p.recipients, p.parts
      FROM sent_request s
      FULL JOIN recipient p ON p.run_id = s.run_id AND p.request = s.request
      OFFSET 0
    ) s
    WHERE run_id IS NOT NULL AND recipients IS NOT NULL
    GROUP BY ${keys}, channel, state, tariff
  ), changed AS (
    SELECT d.run_id, d.block, d.sent, ${payers}, d.channel, d.tariff,
           sum(delivered) AS delivered, sum(undelivered) AS undelivered, sum(units) AS units, sum(price) AS price
    FROM (
      SELECT d.*, q.block, q.channel, q.envelope, coalesce(t.tariff, 0) AS tariff,
             ${quarterOf('coalesce(a.started_at, q.changed_at)')} AS sent
      FROM change_of_request d
      FULL JOIN (SELECT * FROM request WHERE changed) q ON q.run_id = d.run_id AND q.request = d.request
      FULL JOIN (SELECT * FROM attempt WHERE changed) a
        ON a.run_id = d.run_id AND a.request = d.request AND a.attempt = coalesce(d.attempt, q.attempts)
      FULL JOIN (
        SELECT c.run_id, s.request, s.position, s.tariff
        FROM changed_request c
        CROSS JOIN ${recipientsOf('c.run_id', 'c.request')} s
      ) t ON t.run_id = d.run_id AND t.request = d.request AND t.position = d.position
      OFFSET 0
    ) d
    ${envelopeOf('d')}
    WHERE d.request IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), part AS (
    SELECT ${keys}, ${figures({ requests: 'count(*)' })}
    FROM sent_request
    GROUP BY ${keys}
    UNION ALL
    SELECT ${keys}, ${figures({
      recipients: 't.recipients',
      accepted: `CASE WHEN t.state = 'accepted' THEN t.recipients ELSE 0 END`,
      failed: `CASE WHEN t.state IN ('rejected', 'failed') THEN t.recipients ELSE 0 END`,
      unknown: `CASE WHEN t.state IN ('sending', 'in_doubt', 'abandoned') THEN t.recipients ELSE 0 END`,
    })}
    FROM of_tariff t
    UNION ALL
    SELECT ${keys}, ${figures({
      expected_units: 'coalesce(t.units, 0)',
      estimated: 'coalesce(t.units * rate.price, 0)',
      estimated_tax: 'coalesce(t.units * rate.tax, 0)',
      unrated: 'CASE WHEN rate.price IS NULL THEN t.recipients ELSE 0 END',
    })}
    FROM of_tariff t
    JOIN runs USING (run_id) ${priceOf('runs', 't.tariff', 't.sent')}
    WHERE t.state = 'accepted'
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
