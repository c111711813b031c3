/** SQL: a quarter of an hour. In every time zone a day begins with one. */
export const quarterOf = (attempt: string): string => `date_bin('15 minutes', ${attempt}, 'epoch')`;

export const timeAfter = (base: string, milliseconds: string): string =>
  `${base} + (${milliseconds}) * interval '1 millisecond'`;

/** SQL to join: outcomes of a slice's ordinary requests, one array element each. */
export const joinSliceOutcomes = (slice: string): string => `LEFT JOIN LATERAL outcomes_of_slice(
      ${slice}.run_id, ${slice}.slice, ${slice}.first_request, ${slice}.claimed_to
    ) o ON true`;

/** SQL to join: the envelope of a row, by key. */
export const joinEnvelope = (row: string): string => `CROSS JOIN LATERAL (
      SELECT sub_account, department, charge_code
      FROM envelopes
      WHERE run_id = ${row}.run_id AND envelope = ${row}.envelope
      OFFSET 0
    ) e`;

/**
 * SQL of a `WITH` clause: sums of requests without rows, by block of contents. Nearly every block has one envelope
 * and one quarter of an hour: one addition. In other blocks it reads each recipient.
 *
 * State and send time follow `ordinary_requests_between`, and `billing.test.ts` compares both. That function takes
 * six times as long, with a row for each request.
 */
const ordinaryRequestsClause = `
  ordinary AS (
    SELECT s.run_id, s.slice, p.*
    FROM slice s
    CROSS JOIN LATERAL (
      SELECT first_request, last_request, envelopes, sizes, request_offsets, positions, parts, tariffs
      FROM contents
      -- Beyond the last claim nothing was sent: of a run that begins, that is nearly all.
      WHERE run_id = s.run_id AND first_request BETWEEN s.first_request AND least(s.last_request, s.claimed_to)
      OFFSET 0
    ) c
    CROSS JOIN LATERAL (
      SELECT s.finished_ms[c.first_request - s.first_request + 1 : c.last_request - s.first_request + 1] AS finished_ms,
             s.took_ms[c.first_request - s.first_request + 1 : c.last_request - s.first_request + 1] AS took_ms,
             CASE
               WHEN s.has_rows THEN ARRAY(
                 SELECT request - c.first_request
                 FROM requests
                 WHERE run_id = s.run_id AND request BETWEEN c.first_request AND c.last_request
                 OFFSET 0
               )
               ELSE '{}'
             END AS with_rows
      OFFSET 0
    ) a
    CROSS JOIN LATERAL (
      SELECT first_sent,
             c.tariffs IS NULL AND cardinality(a.with_rows) = 0 AND recorded = cardinality(c.envelopes)
               AND first_sent = last_sent AND c.envelopes[1] = ALL (c.envelopes) AS is_one
      FROM (
        SELECT ${quarterOf(timeAfter('s.base_at', 'min(n.finished_ms - n.took_ms)'))} AS first_sent,
               ${quarterOf(timeAfter('s.base_at', 'max(n.finished_ms - n.took_ms)'))} AS last_sent,
               count(n.took_ms) AS recorded
        FROM unnest(a.finished_ms, a.took_ms) AS n (finished_ms, took_ms)
      ) n
      OFFSET 0
    ) b
    CROSS JOIN LATERAL (
      SELECT c.envelopes[1] AS envelope, 'accepted' AS state, b.first_sent AS sent, 0 AS tariff,
             cardinality(c.envelopes) AS requests, u.recipients,
             CASE
               WHEN c.parts[1] = ALL (c.parts) THEN c.parts[1] * u.recipients
               ELSE (SELECT sum(part) FROM unnest(c.parts) AS part)
             END AS parts
      FROM (SELECT sum(size) AS recipients FROM unnest(c.sizes) AS size) u
      WHERE b.is_one
      UNION ALL
      SELECT c.envelopes[r.request_offset + 1], CASE WHEN r.started_ms IS NULL THEN 'sending' ELSE 'accepted' END,
             ${quarterOf(`coalesce(${timeAfter('s.base_at', 'r.started_ms')}, s.claimed_at)`)}, coalesce(r.tariff, 0),
             CAST(r.position = 1 AS integer), 1, r.parts
      FROM (
        SELECT r.*, a.finished_ms[r.request_offset + 1] - a.took_ms[r.request_offset + 1] AS started_ms
        FROM unnest(c.request_offsets, c.positions, c.parts, c.tariffs) AS r (request_offset, position, parts, tariff)
      ) r
      WHERE NOT b.is_one AND c.first_request + r.request_offset <= s.claimed_to AND r.request_offset <> ALL (a.with_rows)
    ) p
  )`;

const requestsWithRowClauses = `
  with_row AS MATERIALIZED (
    SELECT s.run_id, s.slice, q.request, q.envelope, q.state,
           ${quarterOf('coalesce(a.started_at, q.updated_at, r.created_at)')} AS sent
    FROM slice s
    JOIN runs r USING (run_id)
    CROSS JOIN LATERAL (
      SELECT *
      FROM requests
      WHERE run_id = s.run_id AND request BETWEEN s.first_request AND s.last_request
        AND state NOT IN ('planned', 'cancelled')
      OFFSET 0
    ) q
    LEFT JOIN LATERAL (
      SELECT started_at
      FROM attempts
      WHERE run_id = s.run_id AND request = q.request AND attempt = q.attempts
      LIMIT 1
    ) a ON true
    WHERE s.has_rows
  ), recipients_with_row AS (
    SELECT q.run_id, q.slice, q.envelope, q.state, q.sent, p.*
    FROM with_row q
    CROSS JOIN LATERAL (
      SELECT ARRAY(
        SELECT position
        FROM recipient_outcomes
        WHERE run_id = q.run_id AND request = q.request AND outcome = 'cancelled'
      ) AS positions
      OFFSET 0
    ) left_out
    CROSS JOIN LATERAL (
      SELECT coalesce(r.tariff, 0) AS tariff, count(*) AS recipients, sum(r.parts) AS parts
      FROM recipients_between(q.run_id, q.request, q.request) r
      WHERE r.position <> ALL (left_out.positions)
      GROUP BY 1
      OFFSET 0
    ) p
  )`;

/** SQL of `WITH` clauses that end with `counted`: sums of the requests of each `open_slice`. */
export const sliceSumClauses = `
  slice AS MATERIALIZED (
    SELECT s.*, o.*
    FROM (
      SELECT s.run_id, s.slice, s.first_request, s.last_request, s.claimed_to, s.claimed_at, r.has_rows
      FROM open_slice
      CROSS JOIN LATERAL (
        SELECT * FROM slices WHERE run_id = open_slice.run_id AND slice = open_slice.slice LIMIT 1
      ) s
      CROSS JOIN LATERAL (
        SELECT EXISTS (
          SELECT FROM requests
          WHERE run_id = s.run_id AND request BETWEEN s.first_request AND s.last_request
          OFFSET 0
        ) AS has_rows
      ) r
      -- Nothing of the others was sent.
      WHERE s.claimed_to >= s.first_request OR r.has_rows
      OFFSET 0
    ) s
    ${joinSliceOutcomes('s')}
  ), ${ordinaryRequestsClause}, ${requestsWithRowClauses}, counted AS MATERIALIZED (
    SELECT run_id, slice, envelope, state, sent, tariff, sum(requests) AS requests, sum(recipients) AS recipients,
           sum(parts) AS parts
    FROM (
      SELECT run_id, slice, envelope, state, sent, tariff, requests, recipients, parts FROM ordinary
      UNION ALL
      SELECT run_id, slice, envelope, state, sent, 0, 1, 0, NULL FROM with_row
      UNION ALL
      SELECT run_id, slice, envelope, state, sent, tariff, 0, recipients, parts FROM recipients_with_row
    ) each
    GROUP BY 1, 2, 3, 4, 5, 6
  )`;
