import { sliceOf } from './open-slices.ts';

/**
 * SQL of a statement that notes for the next booking what has become of recipients: to be a part of the statement that
 * writes their outcomes.
 *
 * @param outcomes has a row for each that there is now, with `sign` 1, and for each that was there before it, with -1
 */
export function noteOutcomes(outcomes: string): string {
  const sum = (outcome: string): string =>
    `CAST(sum(sign * CAST(outcome = '${outcome}' AS integer)) AS smallint) AS ${outcome}`;
  return `
    INSERT INTO billing_changes (run_id, request, position, delivered, undelivered, units, price)
    SELECT *
    FROM (
      SELECT run_id, request, position, ${sum('delivered')}, ${sum('undelivered')}, sum(sign * units) AS units,
             sum(sign * price) AS price
      FROM (${outcomes}) AS outcomes
      GROUP BY run_id, request, position
    ) AS changes
    WHERE delivered <> 0 OR undelivered <> 0 OR units <> 0 OR price <> 0`;
}

/**
 * SQL: as `noteOutcomes`, for recipients of accepted requests that had no outcome before. They are added up by request
 * here, where it is known what the booking would have to look up for each.
 *
 * @param outcomes has run_id, request, slice, envelope, tariff, outcome, units and price of each
 */
export function noteFirstOutcomes(outcomes: string): string {
  return `
    INSERT INTO billing_outcomes (run_id, requests, slices, envelopes, tariffs, delivered, undelivered, units, prices)
    SELECT run_id, array_agg(request), array_agg(slice), array_agg(envelope), array_agg(tariff), array_agg(delivered),
           array_agg(undelivered), array_agg(units), array_agg(price)
    FROM (
      SELECT run_id, request, slice, envelope, tariff, count(*) FILTER (WHERE outcome = 'delivered') AS delivered,
             count(*) FILTER (WHERE outcome = 'undelivered') AS undelivered, sum(units) AS units, sum(price) AS price
      FROM (${outcomes}) AS outcomes
      GROUP BY run_id, request, slice, envelope, tariff
    ) AS of_request
    GROUP BY run_id`;
}

/**
 * SQL: whether a change waits for the next booking, because nothing says yet when its request was sent: it is planned, or
 * it is being sent and has no row. What were booked by the time of the claim would stay there.
 */
export const isUndated = (change: string): string => `EXISTS (
      SELECT
      FROM ${sliceOf(change)} s
      CROSS JOIN LATERAL (
        SELECT state FROM ordinary_requests_between(${change}.run_id, ${change}.request, ${change}.request)
        UNION ALL
        SELECT state FROM requests WHERE run_id = ${change}.run_id AND request = ${change}.request AND attempts = 0
      ) q
      WHERE s.state <> 'done' AND q.state IN ('planned', 'sending')
    )`;

/** SQL: all that is noted for the next booking, from rows of the two tables that have it. */
export function changesOf(changes: string, outcomes: string): string {
  return `
    SELECT d.run_id, d.request, c.*, d.delivered, d.undelivered, d.units, d.price, d.sent
    FROM ${changes} d
    CROSS JOIN LATERAL (
      SELECT slice, envelopes[d.request - first_request + 1] AS envelope,
             CASE
               WHEN tariffs IS NULL THEN 0
               ELSE (
                 SELECT r.tariff
                 FROM unnest(request_offsets, positions, tariffs) AS r (request_offset, position, tariff)
                 WHERE first_request + r.request_offset = d.request AND r.position = d.position
               )
             END AS tariff
      FROM contents
      WHERE run_id = d.run_id AND first_request <= d.request
      ORDER BY first_request DESC
      LIMIT 1
    ) c
    UNION ALL
    -- In a list of columns: as a table, all would be written out before the first is read.
    SELECT run_id, unnest(requests), unnest(slices), unnest(envelopes), unnest(tariffs), unnest(delivered),
           unnest(undelivered), unnest(units), unnest(prices), NULL
    FROM ${outcomes}`;
}
