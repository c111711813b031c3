import { joinEnvelope, joinSliceOutcomes, quarterOf, timeAfter } from './slice-sums.ts';

/** SQL of `WITH` clauses that end with `changed`: sums of each `change`. For the joins see `pendingClauses`. */
export const changeSumClauses = `
  placed_change AS MATERIALIZED (
    SELECT d.run_id, d.request, d.slice, d.envelope, d.tariff, d.delivered, d.undelivered, d.units, d.price,
           coalesce(d.sent, q.sent) AS row_sent, q.unsent AS row_unsent
    FROM change d
    LEFT JOIN LATERAL (
      SELECT coalesce((
               SELECT started_at
               FROM attempts
               WHERE run_id = d.run_id AND request = d.request AND attempt = requests.attempts
             ), updated_at) AS sent,
             attempts = 0 AND state IN ('planned', 'cancelled') AS unsent
      FROM requests
      WHERE run_id = d.run_id AND request = d.request
      LIMIT 1
    ) q ON true
  ), changed_slice AS MATERIALIZED (
    SELECT s.run_id, s.slice, s.first_request, s.claimed_to, s.claimed_at, o.*
    FROM (SELECT DISTINCT run_id, slice FROM placed_change) c
    CROSS JOIN LATERAL (
      SELECT * FROM slices WHERE run_id = c.run_id AND slice = c.slice LIMIT 1
    ) s
    ${joinSliceOutcomes('s')}
  ), changed AS (
    SELECT d.run_id, d.slice, d.sent, e.sub_account, e.department, e.charge_code, d.channel, d.tariff,
           sum(delivered) AS delivered, sum(undelivered) AS undelivered, sum(unsent_delivered) AS unsent_delivered,
           sum(unsent_undelivered) AS unsent_undelivered, sum(units) AS units, sum(price) AS price
    FROM (
      SELECT d.run_id, d.slice, d.envelope, r.channel, d.tariff, ${quarterOf('t.sent')} AS sent,
             coalesce(sum(delivered) FILTER (WHERE NOT t.unsent), 0) AS delivered,
             coalesce(sum(undelivered) FILTER (WHERE NOT t.unsent), 0) AS undelivered,
             coalesce(sum(delivered) FILTER (WHERE t.unsent), 0) AS unsent_delivered,
             coalesce(sum(undelivered) FILTER (WHERE t.unsent), 0) AS unsent_undelivered, coalesce(sum(units), 0) AS units,
             coalesce(sum(price), 0) AS price
      FROM placed_change d
      JOIN runs r USING (run_id)
      FULL JOIN changed_slice s ON s.run_id = d.run_id AND s.slice = d.slice
      CROSS JOIN LATERAL (SELECT d.request - s.first_request + 1 AS offset) p
      CROSS JOIN LATERAL (
        SELECT coalesce(
          d.row_sent, ${timeAfter('s.base_at', 's.finished_ms[p.offset] - s.took_ms[p.offset]')}, s.claimed_at, r.created_at
        ) AS sent, coalesce(d.row_unsent, d.request > s.claimed_to) AS unsent
      ) t
      GROUP BY 1, 2, 3, 4, 5, 6
      OFFSET 0
    ) d
    ${joinEnvelope('d')}
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  )`;
