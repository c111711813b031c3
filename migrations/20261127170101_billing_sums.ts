import type { Knex } from 'knex';

/**
 * What billing sums. `billing_entries` has what is booked. The functions compute what is not booked: requests of
 * slices that have changed, and outcomes since the last booking. `all_entries` has everything, for every reader.
 *
 * Single rows are looked up by key (LATERAL with LIMIT or OFFSET); the rest uses FULL JOIN, which Postgres hashes or
 * merges. Without statistics, right after a run, nested loops took 0.4 ms for each request.
 */
export async function up(knex: Knex): Promise<void> {
  await createRateAndQuarter(knex);
  await createRequestSums(knex);
  await createOutcomeSums(knex);
  await createAllEntries(knex);
}

/** The columns of billing_entries, and their types. */
const keys = `run_id text, slice integer, sent timestamptz, booked timestamptz, sub_account text, department text,
      charge_code text`;
const figures = `requests bigint, recipients bigint, accepted bigint, failed bigint, unknown bigint, delivered bigint,
      undelivered bigint, units numeric, expected_units numeric, price numeric, estimated numeric,
      estimated_tax numeric, unrated bigint, unsent_delivered bigint, unsent_undelivered bigint`;

/** Nothing is booked in a closed period. */
const closedUntil = `(SELECT coalesce(max(ends_at), '-infinity') FROM billing_closings)`;

async function createRateAndQuarter(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION quarter_of(at timestamptz) RETURNS timestamptz
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN date_bin('15 minutes', at, to_timestamp(0));
    COMMENT ON FUNCTION quarter_of IS 'Start of the quarter of an hour. In every time zone a day begins with one.';

    CREATE FUNCTION rate_at(rates jsonb, tariff integer, sent timestamptz) RETURNS TABLE (price numeric, tax numeric)
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT period.price, period.price * coalesce(period.tax, 0)
      FROM jsonb_to_recordset(rates -> 'tariffs' -> tariff)
        AS period (price numeric, tax numeric, "from" timestamptz, until timestamptz)
      WHERE (period."from" IS NULL OR period."from" <= sent) AND (period.until IS NULL OR sent < period.until)
      LIMIT 1;
    END;
    COMMENT ON FUNCTION rate_at IS 'Price and tax of a unit at a time, by a tariff of runs.rates. No row: no price.';
  `);
}

async function createRequestSums(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION billed_requests(run text, slice integer)
    RETURNS TABLE (
      sent timestamptz, sub_account text, department text, charge_code text, state text, tariff integer,
      requests numeric, recipients numeric, parts numeric
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      WITH own_slice AS MATERIALIZED (
        SELECT s.*, h.has_rows, o.base_at, o.finished_ms, o.took_ms
        FROM (
          SELECT run_id, slices.slice, first_request, last_request, claimed_to, claimed_at
          FROM slices
          WHERE slices.run_id = billed_requests.run AND slices.slice = billed_requests.slice
          LIMIT 1
        ) s
        CROSS JOIN LATERAL (
          SELECT EXISTS (
            SELECT FROM requests WHERE run_id = s.run_id AND request BETWEEN s.first_request AND s.last_request OFFSET 0
          ) AS has_rows
          OFFSET 0
        ) h
        LEFT JOIN LATERAL outcomes_of_slice(s.run_id, s.slice, s.first_request, s.claimed_to) o ON true
      ), block AS (
        SELECT c.*, s.base_at, s.claimed_to, s.claimed_at, a.finished_ms, a.took_ms, a.with_rows,
               -- The quarter of an hour in which all requests of the block were sent, for one payer.
               CASE
                 WHEN c.tariffs IS NULL AND cardinality(a.with_rows) = 0 AND c.envelopes[1] = ALL (c.envelopes) THEN (
                   SELECT CASE WHEN t.recorded = cardinality(c.envelopes) AND t.first_sent = t.last_sent THEN t.first_sent END
                   FROM (
                     SELECT count(n.took_ms) AS recorded,
                            quarter_of(s.base_at + min(n.finished_ms - n.took_ms) * interval '1 millisecond') AS first_sent,
                            quarter_of(s.base_at + max(n.finished_ms - n.took_ms) * interval '1 millisecond') AS last_sent
                     FROM unnest(a.finished_ms, a.took_ms) AS n (finished_ms, took_ms)
                   ) t
                 )
               END AS sent
        FROM own_slice s
        CROSS JOIN LATERAL (
          SELECT first_request, last_request, envelopes, request_offsets, positions, parts, tariffs
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
        OFFSET 0
      ), without_row AS (
        -- Nearly every block is one addition; of the others each recipient is read. State and send time are as in
        -- ordinary_requests_between, which takes six times as long, with a row for each request.
        SELECT p.*
        FROM block c
        CROSS JOIN LATERAL (
          SELECT c.envelopes[1] AS envelope, 'accepted' AS state, c.sent, 0 AS tariff,
                 cardinality(c.envelopes) AS requests, cardinality(c.positions) AS recipients,
                 CASE
                   WHEN c.parts[1] = ALL (c.parts) THEN c.parts[1] * cardinality(c.positions)
                   ELSE (SELECT sum(part) FROM unnest(c.parts) AS part)
                 END AS parts
          WHERE c.sent IS NOT NULL
          UNION ALL
          SELECT c.envelopes[r.request_offset + 1], CASE WHEN r.started_ms IS NULL THEN 'sending' ELSE 'accepted' END,
                 quarter_of(coalesce(c.base_at + r.started_ms * interval '1 millisecond', c.claimed_at)),
                 coalesce(r.tariff, 0), CAST(r.position = 1 AS integer), 1, r.parts
          FROM (
            SELECT r.*, c.finished_ms[r.request_offset + 1] - c.took_ms[r.request_offset + 1] AS started_ms
            FROM unnest(c.request_offsets, c.positions, c.parts, c.tariffs) AS r (request_offset, position, parts, tariff)
          ) r
          WHERE c.sent IS NULL AND c.first_request + r.request_offset <= c.claimed_to
            AND r.request_offset <> ALL (c.with_rows)
        ) p
      ), with_row AS MATERIALIZED (
        SELECT q.request, q.envelope, q.state,
               quarter_of(coalesce(a.started_at, q.updated_at, r.created_at)) AS sent
        FROM own_slice s
        JOIN runs r ON r.run_id = billed_requests.run
        CROSS JOIN LATERAL (
          SELECT *
          FROM requests
          WHERE run_id = billed_requests.run AND request BETWEEN s.first_request AND s.last_request
            AND state NOT IN ('planned', 'cancelled')
          OFFSET 0
        ) q
        LEFT JOIN LATERAL (
          SELECT started_at
          FROM attempts
          WHERE run_id = billed_requests.run AND request = q.request AND attempt = q.attempts
          LIMIT 1
        ) a ON true
        WHERE s.has_rows
      ), recipients_with_row AS (
        SELECT q.envelope, q.state, q.sent, p.*
        FROM with_row q
        CROSS JOIN LATERAL (
          SELECT ARRAY(
            SELECT position
            FROM recipient_outcomes
            WHERE run_id = billed_requests.run AND request = q.request AND outcome = 'cancelled'
          ) AS positions
          OFFSET 0
        ) left_out
        CROSS JOIN LATERAL (
          SELECT coalesce(r.tariff, 0) AS tariff, count(*) AS recipients, sum(r.parts) AS parts
          FROM recipients_between(billed_requests.run, q.request, q.request) r
          WHERE r.position <> ALL (left_out.positions)
          GROUP BY 1
          OFFSET 0
        ) p
      )
      SELECT c.sent, e.sub_account, e.department, e.charge_code, c.state, c.tariff, sum(c.requests), sum(c.recipients),
             sum(c.parts)
      FROM (
        SELECT envelope, state, sent, tariff, sum(requests) AS requests, sum(recipients) AS recipients,
               sum(parts) AS parts
        FROM (
          SELECT envelope, state, sent, tariff, requests, recipients, parts FROM without_row
          UNION ALL
          SELECT envelope, state, sent, 0, 1, 0, NULL FROM with_row
          UNION ALL
          SELECT envelope, state, sent, tariff, 0, recipients, parts FROM recipients_with_row
        ) each
        GROUP BY 1, 2, 3, 4
        OFFSET 0
      ) c
      CROSS JOIN LATERAL (
        SELECT sub_account, department, charge_code
        FROM envelopes
        WHERE run_id = billed_requests.run AND envelope = c.envelope
        OFFSET 0
      ) e
      GROUP BY 1, 2, 3, 4, 5, 6;
    END;
    COMMENT ON FUNCTION billed_requests IS
      'Requests of a slice that were sent, or may have been, and their recipients without the suppressed ones, by payer '
      'and quarter of an hour. A request is sent when its last attempt begins; untried and cancelled ones do not count.';

    CREATE FUNCTION unbooked_requests(run text, slice integer) RETURNS TABLE (${keys}, ${figures})
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT unbooked_requests.run AS run_id, unbooked_requests.slice AS slice, p.sent,
             greatest(p.sent, ${closedUntil}) AS booked, p.sub_account, p.department, p.charge_code,
             CAST(sum(p.requests) AS bigint) AS requests, CAST(sum(p.recipients) AS bigint) AS recipients,
             CAST(sum(p.accepted) AS bigint) AS accepted, CAST(sum(p.failed) AS bigint) AS failed,
             CAST(sum(p.unknown) AS bigint) AS unknown, 0 AS delivered, 0 AS undelivered, 0 AS units,
             sum(p.expected_units) AS expected_units, 0 AS price, sum(p.estimated) AS estimated,
             sum(p.estimated_tax) AS estimated_tax, CAST(sum(p.unrated) AS bigint) AS unrated, 0 AS unsent_delivered,
             0 AS unsent_undelivered
      FROM (
        SELECT b.sent, b.sub_account, b.department, b.charge_code, b.requests, b.recipients,
               CASE WHEN b.state = 'accepted' THEN b.recipients ELSE 0 END AS accepted,
               CASE WHEN b.state IN ('rejected', 'failed') THEN b.recipients ELSE 0 END AS failed,
               CASE WHEN b.state IN ('sending', 'in_doubt', 'abandoned') THEN b.recipients ELSE 0 END AS unknown,
               coalesce(u.units, 0) AS expected_units, coalesce(u.units * rate.price, 0) AS estimated,
               coalesce(u.units * rate.tax, 0) AS estimated_tax,
               CASE WHEN b.state = 'accepted' AND rate.price IS NULL THEN b.recipients ELSE 0 END AS unrated
        FROM runs r
        CROSS JOIN LATERAL billed_requests(unbooked_requests.run, unbooked_requests.slice) b
        CROSS JOIN LATERAL (
          -- Fax pages and voice seconds are known from delivery reports only.
          SELECT CASE WHEN b.state = 'accepted' THEN
                   CASE r.channel WHEN 'sms' THEN b.parts WHEN 'email' THEN b.recipients END
                 END AS units
        ) u
        LEFT JOIN LATERAL rate_at(r.rates, b.tariff, b.sent) rate ON b.state = 'accepted'
        WHERE r.run_id = unbooked_requests.run
        UNION ALL
        -- A slice may be partly booked.
        SELECT n.sent, n.sub_account, n.department, n.charge_code, -n.requests, -n.recipients, -n.accepted, -n.failed,
               -n.unknown, -n.expected_units, CASE WHEN r.channel IN ('sms', 'email') THEN -n.estimated ELSE 0 END,
               CASE WHEN r.channel IN ('sms', 'email') THEN -n.estimated_tax ELSE 0 END, -n.unrated
        FROM runs r
        JOIN billing_entries n ON n.run_id = r.run_id AND n.slice = unbooked_requests.slice
        WHERE r.run_id = unbooked_requests.run
      ) p
      GROUP BY p.sent, p.sub_account, p.department, p.charge_code;
    END;
    COMMENT ON FUNCTION unbooked_requests IS 'What the entries of a slice lack, of its requests.';
  `);
}

async function createOutcomeSums(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION unbooked_outcomes(run text, changes tid[], outcomes tid[]) RETURNS TABLE (${keys}, ${figures})
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      WITH change AS MATERIALIZED (
        SELECT d.request, d.slice, d.envelope, d.tariff, d.delivered, d.undelivered, d.units, d.price,
               coalesce(d.sent, q.sent) AS row_sent, q.is_unsent
        FROM (
          SELECT c.request, b.slice, b.envelope, b.tariff, c.delivered, c.undelivered, c.units, c.price, c.sent
          FROM billing_changes c
          CROSS JOIN LATERAL (
            SELECT slice, envelopes[c.request - first_request + 1] AS envelope,
                   CASE
                     WHEN tariffs IS NULL THEN 0
                     ELSE (
                       SELECT r.tariff
                       FROM unnest(request_offsets, positions, tariffs) AS r (request_offset, position, tariff)
                       WHERE first_request + r.request_offset = c.request AND r.position = c.position
                     )
                   END AS tariff
            FROM contents
            WHERE run_id = unbooked_outcomes.run AND first_request <= c.request
            ORDER BY first_request DESC
            LIMIT 1
          ) b
          WHERE c.run_id = unbooked_outcomes.run
            AND (unbooked_outcomes.changes IS NULL OR c.ctid = ANY (unbooked_outcomes.changes))
          UNION ALL
          -- In the select list: as a table, Postgres would materialise all rows before reading the first.
          SELECT unnest(o.requests), unnest(o.slices), unnest(o.envelopes), unnest(o.tariffs), unnest(o.delivered),
                 unnest(o.undelivered), unnest(o.units), unnest(o.prices), NULL
          FROM billing_outcomes o
          WHERE o.run_id = unbooked_outcomes.run
            AND (unbooked_outcomes.outcomes IS NULL OR o.ctid = ANY (unbooked_outcomes.outcomes))
        ) d
        LEFT JOIN LATERAL (
          SELECT coalesce((
                   SELECT started_at
                   FROM attempts
                   WHERE run_id = unbooked_outcomes.run AND request = d.request AND attempt = requests.attempts
                 ), updated_at) AS sent,
                 attempts = 0 AND state IN ('planned', 'cancelled') AS is_unsent
          FROM requests
          WHERE run_id = unbooked_outcomes.run AND request = d.request
          LIMIT 1
        ) q ON true
      ), changed_slice AS MATERIALIZED (
        SELECT s.slice, s.first_request, s.claimed_to, s.claimed_at, o.base_at, o.finished_ms, o.took_ms
        FROM (SELECT DISTINCT slice FROM change) c
        CROSS JOIN LATERAL (
          SELECT * FROM slices WHERE run_id = unbooked_outcomes.run AND slices.slice = c.slice LIMIT 1
        ) s
        LEFT JOIN LATERAL outcomes_of_slice(unbooked_outcomes.run, s.slice, s.first_request, s.claimed_to) o ON true
      ), changed AS (
        SELECT d.slice, d.envelope, d.tariff, quarter_of(t.sent) AS sent,
               coalesce(sum(d.delivered) FILTER (WHERE NOT t.is_unsent), 0) AS delivered,
               coalesce(sum(d.undelivered) FILTER (WHERE NOT t.is_unsent), 0) AS undelivered,
               coalesce(sum(d.delivered) FILTER (WHERE t.is_unsent), 0) AS unsent_delivered,
               coalesce(sum(d.undelivered) FILTER (WHERE t.is_unsent), 0) AS unsent_undelivered,
               coalesce(sum(d.units), 0) AS units, coalesce(sum(d.price), 0) AS price
        FROM change d
        FULL JOIN changed_slice s ON s.slice = d.slice
        CROSS JOIN LATERAL (SELECT d.request - s.first_request + 1 AS index) p
        CROSS JOIN LATERAL (
          SELECT coalesce(
                   d.row_sent, s.base_at + (s.finished_ms[p.index] - s.took_ms[p.index]) * interval '1 millisecond',
                   s.claimed_at, (SELECT created_at FROM runs WHERE run_id = unbooked_outcomes.run)
                 ) AS sent,
                 coalesce(d.is_unsent, d.request > s.claimed_to) AS is_unsent
        ) t
        GROUP BY 1, 2, 3, 4
        OFFSET 0
      ), of_payer AS (
        SELECT c.slice, c.sent, e.sub_account, e.department, e.charge_code, c.tariff, sum(c.delivered) AS delivered,
               sum(c.undelivered) AS undelivered, sum(c.unsent_delivered) AS unsent_delivered,
               sum(c.unsent_undelivered) AS unsent_undelivered, sum(c.units) AS units, sum(c.price) AS price
        FROM changed c
        CROSS JOIN LATERAL (
          SELECT sub_account, department, charge_code
          FROM envelopes
          WHERE run_id = unbooked_outcomes.run AND envelope = c.envelope
          OFFSET 0
        ) e
        GROUP BY 1, 2, 3, 4, 5, 6
      )
      SELECT r.run_id, d.slice, d.sent, greatest(d.sent, ${closedUntil}) AS booked, d.sub_account, d.department,
             d.charge_code, 0 AS requests, 0 AS recipients, 0 AS accepted, 0 AS failed, 0 AS unknown,
             CAST(d.delivered AS bigint) AS delivered, CAST(d.undelivered AS bigint) AS undelivered, d.units,
             0 AS expected_units, d.price,
             CASE WHEN r.channel IN ('sms', 'email') THEN 0 ELSE coalesce(d.units * rate.price, 0) END AS estimated,
             CASE WHEN r.channel IN ('sms', 'email') THEN 0 ELSE coalesce(d.units * rate.tax, 0) END AS estimated_tax,
             0 AS unrated, CAST(d.unsent_delivered AS bigint) AS unsent_delivered,
             CAST(d.unsent_undelivered AS bigint) AS unsent_undelivered
      FROM runs r
      CROSS JOIN of_payer d
      LEFT JOIN LATERAL rate_at(r.rates, d.tariff, d.sent) rate ON true
      WHERE r.run_id = unbooked_outcomes.run;
    END;
    COMMENT ON FUNCTION unbooked_outcomes IS
      'What entries lack, of outcomes in delivery reports: all of a run, or those in rows of billing_changes and '
      'billing_outcomes. The service charges for requests that were never sent too; these have figures of their own.';
  `);
}

async function createAllEntries(knex: Knex): Promise<void> {
  const columns = `${keys}, ${figures}`.replaceAll(/ (?:text|integer|timestamptz|bigint|numeric)\b/g, '');
  await knex.raw(`
    CREATE VIEW unbooked_slices AS
    SELECT b.run_id, b.slice
    FROM (
      SELECT run_id, slice FROM billing_slices WHERE open
      UNION
      SELECT o.run_id, s.slice
      FROM billing_reopened_requests o
      CROSS JOIN LATERAL (
        SELECT slice
        FROM slices
        WHERE run_id = o.run_id AND first_request <= o.request
        ORDER BY first_request DESC
        LIMIT 1
      ) s
    ) b
    JOIN runs r USING (run_id)
    CROSS JOIN LATERAL (
      SELECT first_request, last_request, claimed_to FROM slices WHERE run_id = b.run_id AND slice = b.slice LIMIT 1
    ) s
    WHERE r.state <> 'planned' AND (
      s.claimed_to >= s.first_request
      OR EXISTS (
        SELECT FROM requests WHERE run_id = b.run_id AND request BETWEEN s.first_request AND s.last_request OFFSET 0
      )
      OR EXISTS (SELECT FROM billing_entries WHERE run_id = b.run_id AND slice = b.slice OFFSET 0)
    );
    COMMENT ON VIEW unbooked_slices IS 'Slices whose entries may lack something of their requests.';

    CREATE VIEW all_entries AS
    SELECT ${columns} FROM billing_entries
    UNION ALL
    SELECT u.* FROM unbooked_slices s CROSS JOIN LATERAL unbooked_requests(s.run_id, s.slice) u
    UNION ALL
    SELECT u.*
    FROM (SELECT run_id FROM billing_changes UNION SELECT run_id FROM billing_outcomes) r
    CROSS JOIN LATERAL unbooked_outcomes(r.run_id, NULL, NULL) u;
    COMMENT ON VIEW all_entries IS 'Billing entries, booked or not: the sum is what everything costs.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP VIEW all_entries, unbooked_slices;
    DROP FUNCTION unbooked_outcomes, unbooked_requests, billed_requests, rate_at, quarter_of;
  `);
}
