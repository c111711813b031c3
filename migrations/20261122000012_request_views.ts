import type { Knex } from 'knex';

/**
 * Every request, recipient and attempt, with or without a row (docs/reference/ledger.md). Each function reads one range of a
 * run; its view reads all runs. Postgres inlines both into the caller's plan.
 */
export async function up(knex: Knex): Promise<void> {
  await createOutcomeFunctions(knex);
  await createOrdinaryRequests(knex);
  await createRanges(knex);
  await createViews(knex);
}

/** Outcomes of a slice: one row once it is done (`compactOutcomes`), aggregated before. */
async function createOutcomeFunctions(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION aggregated_outcomes(run text, slice integer, first integer, last integer)
    RETURNS TABLE (base_at timestamptz, finished_ms bigint[], took_ms integer[], statuses smallint[], job_numbers text[])
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      WITH recorded AS MATERIALIZED (
        SELECT a.request, b.recorded_at - a.age_ms * interval '1 millisecond' AS finished_at, a.took_ms, a.status, a.job_number
        FROM outcomes b
        CROSS JOIN LATERAL unnest(b.requests, b.ages_ms, b.took_ms, b.statuses, b.job_numbers)
          AS a (request, age_ms, took_ms, status, job_number)
        WHERE b.run_id = aggregated_outcomes.run AND b.slice = aggregated_outcomes.slice
      ), base AS MATERIALIZED (
        SELECT min(finished_at) AS base_at FROM recorded
      )
      SELECT min(base.base_at),
             array_agg(CAST(extract(epoch FROM n.finished_at - base.base_at) * 1000 AS bigint) ORDER BY q.request),
             array_agg(n.took_ms ORDER BY q.request),
             CASE WHEN count(n.status) > 0 THEN array_agg(n.status ORDER BY q.request) END,
             CASE WHEN count(n.job_number) > 0 THEN array_agg(n.job_number ORDER BY q.request) END
      FROM base
      CROSS JOIN generate_series(aggregated_outcomes.first, aggregated_outcomes.last) AS q (request)
      LEFT JOIN recorded n ON n.request = q.request;
    END;
    COMMENT ON FUNCTION aggregated_outcomes IS
      'Recorded outcomes of an unfinished slice, in the form of slice_outcomes: an element for each request in the '
      'range.';

    CREATE FUNCTION outcomes_of_slice(run text, slice integer, first integer, last integer)
    RETURNS TABLE (base_at timestamptz, finished_ms bigint[], took_ms integer[], statuses smallint[], job_numbers text[])
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      -- Appending nothing fetches a TOASTed array once, not for each request.
      SELECT k.base_at, k.finished_ms || CAST('{}' AS bigint[]), k.took_ms || CAST('{}' AS integer[]),
             k.statuses || CAST('{}' AS smallint[]), k.job_numbers || CAST('{}' AS text[])
      FROM slice_outcomes k
      WHERE k.run_id = outcomes_of_slice.run AND k.slice = outcomes_of_slice.slice
      UNION ALL
      SELECT g.*
      FROM aggregated_outcomes(outcomes_of_slice.run, outcomes_of_slice.slice, outcomes_of_slice.first, outcomes_of_slice.last) g
      WHERE NOT EXISTS (
        SELECT FROM slice_outcomes k WHERE k.run_id = outcomes_of_slice.run AND k.slice = outcomes_of_slice.slice
      );
    END;
    COMMENT ON FUNCTION outcomes_of_slice IS
      'Recorded outcomes of a slice''s ordinary requests, done or not: an element for each request in the range.';
  `);
}

/**
 * State and times of requests without a row, from slice, outcomes and run. A test compares them with billing, which
 * applies the same rules to blocks (`ledger/billing/slice-sums.ts`).
 */
async function createOrdinaryRequests(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION ordinary_requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, slice integer, envelope integer, recipients integer, state text, reason jsonb,
      owner uuid, claimed_at timestamptz, finished_at timestamptz, took interval, http_status integer, job_number text,
      updated_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT s.run_id, n.request, s.slice, n.envelope, n.recipients,
             CASE
               WHEN n.request > s.claimed_to THEN CASE s.run_state WHEN 'cancelled' THEN 'cancelled' ELSE 'planned' END
               WHEN n.took_ms IS NULL THEN 'sending'
               ELSE 'accepted'
             END,
             CASE WHEN n.request > s.claimed_to AND s.run_state = 'cancelled' THEN jsonb_build_object('kind', 'run_cancelled')
                  WHEN n.job_number IS NOT NULL THEN jsonb_build_object('kind', 'job_number', 'jobNumber', n.job_number) END,
             CASE WHEN n.request <= s.claimed_to AND n.took_ms IS NULL THEN s.owner END,
             CASE WHEN n.request <= s.claimed_to THEN s.claimed_at END,
             s.base_at + n.finished_ms * interval '1 millisecond',
             n.took_ms * interval '1 millisecond',
             CASE WHEN n.took_ms IS NOT NULL THEN coalesce(n.status, 200) END,
             n.job_number,
             CASE WHEN n.request > s.claimed_to THEN CASE s.run_state WHEN 'cancelled' THEN s.run_finished_at END
                  ELSE coalesce(s.base_at + n.finished_ms * interval '1 millisecond', s.claimed_at) END
      FROM (
        SELECT r.run_id, r.state AS run_state, r.finished_at AS run_finished_at, s.slice, s.first_request, s.last_request,
               s.claimed_to, s.claimed_at, s.owner, o.base_at, o.finished_ms, o.took_ms, o.statuses, o.job_numbers
        FROM runs r
        JOIN slices s ON s.run_id = r.run_id
        LEFT JOIN LATERAL outcomes_of_slice(s.run_id, s.slice, s.first_request, s.claimed_to) o ON true
        WHERE r.run_id = run AND s.first_request <= last
          AND s.first_request >= coalesce((
            SELECT max(b.first_request) FROM slices b WHERE b.run_id = run AND b.first_request <= first
          ), 0)
        OFFSET 0 -- looks up the outcomes of a slice once, not for each request
      ) s
      JOIN contents c ON c.run_id = s.run_id AND c.first_request BETWEEN s.first_request AND s.last_request
      CROSS JOIN LATERAL (
        SELECT e.request, e.envelope, e.recipients, s.finished_ms[e.index] AS finished_ms, s.took_ms[e.index] AS took_ms,
               s.statuses[e.index] AS status, s.job_numbers[e.index] AS job_number
        FROM (
          SELECT c.first_request + CAST(u.number AS integer) - 1 AS request,
                 c.first_request - s.first_request + CAST(u.number AS integer) AS index, u.envelope, u.recipients
          FROM unnest(c.envelopes, c.sizes) WITH ORDINALITY AS u (envelope, recipients, number)
        ) e
      ) n
      WHERE c.first_request <= last
        AND c.first_request >= coalesce((
          SELECT max(b.first_request) FROM contents b WHERE b.run_id = run AND b.first_request <= first
        ), 0)
        AND n.request BETWEEN first AND last
        AND NOT EXISTS (SELECT FROM requests q
                        WHERE q.run_id = run AND q.request = n.request AND q.request BETWEEN first AND last);
    END;
  `);
}

/** Requests with and without rows. Postgres drops the join with runs for callers that do not read the MessageID. */
async function createRanges(knex: Knex): Promise<void> {
  await knex.raw(`
    COMMENT ON FUNCTION ordinary_requests_between IS 'Requests in the range without a row, with their one attempt.';

    CREATE FUNCTION requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, message_id text, envelope integer, recipients integer, state text, reason jsonb,
      attempts integer, resends integer, divided_from integer, updated_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT q.run_id, q.request, message_id(r.run_number, r.message_key, q.request), q.envelope, q.recipients, q.state,
             q.reason, q.attempts, q.resends, q.divided_from, q.updated_at
      FROM requests q
      LEFT JOIN runs r ON r.run_id = q.run_id
      WHERE q.run_id = run AND q.request BETWEEN first AND last
      UNION ALL
      SELECT o.run_id, o.request, message_id(r.run_number, r.message_key, o.request), o.envelope, o.recipients, o.state,
             o.reason, CASE WHEN o.state IN ('sending', 'accepted') THEN 1 ELSE 0 END, 0, NULL, o.updated_at
      FROM ordinary_requests_between(run, first, last) o
      LEFT JOIN runs r ON r.run_id = o.run_id;
    END;
    COMMENT ON FUNCTION requests_between IS 'Every request in the range, with or without a row.';

    CREATE FUNCTION attempts_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, attempt integer, owner uuid, started_at timestamptz, finished_at timestamptz,
      verdict text, http_status integer, detail jsonb
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT a.run_id, a.request, a.attempt, a.owner, a.started_at, a.finished_at, a.verdict, a.http_status, a.detail
      FROM attempts a
      WHERE a.run_id = run AND a.request BETWEEN first AND last
      UNION ALL
      SELECT o.run_id, o.request, 1, o.owner, coalesce(o.finished_at - o.took, o.claimed_at), o.finished_at,
             CASE o.state WHEN 'accepted' THEN 'accepted' END, o.http_status, o.reason
      FROM ordinary_requests_between(run, first, last) o
      WHERE o.state IN ('sending', 'accepted');
    END;
    COMMENT ON FUNCTION attempts_between IS 'Every attempt in the range, with or without a row.';
  `);
}

/** For reports on whole runs, and for psql. */
async function createViews(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE VIEW request_states AS
    SELECT q.*
    FROM runs r
    CROSS JOIN LATERAL requests_between(r.run_id, 1, 2147483647) q;

    CREATE VIEW all_attempts AS
    SELECT a.*
    FROM runs r
    CROSS JOIN LATERAL attempts_between(r.run_id, 1, 2147483647) a;

    CREATE VIEW recipient_states AS
    SELECT q.run_id, q.request, q.message_id, q.envelope, p.position, p.line, p.address, p.original_address, p.parts,
           p.tariff, q.state AS request_state, o.outcome,
           CASE WHEN o.outcome IS NULL THEN q.reason
                WHEN o.outcome = 'cancelled' THEN jsonb_build_object('kind', 'suppressed')
                ELSE to_jsonb(o.result) END AS reason,
           o.units, o.price, o.reported_at
    FROM runs r
    CROSS JOIN LATERAL requests_between(r.run_id, 1, 2147483647) q
    -- A lookup for each request: the planner cannot estimate the arrays, and would read all recipients each time.
    CROSS JOIN LATERAL recipients_between(r.run_id, q.request, q.request) p
    LEFT JOIN recipient_outcomes o
      ON o.run_id = r.run_id AND o.request = p.request AND o.position = p.position;

    COMMENT ON VIEW request_states IS 'Every request, with or without a row, and its state.';
    COMMENT ON VIEW all_attempts IS 'Every attempt of a request, with or without a row.';
    COMMENT ON VIEW recipient_states IS
      'Every recipient, with the state of its request and its own outcome, if known.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP VIEW recipient_states, request_states, all_attempts;
    DROP FUNCTION requests_between, attempts_between, ordinary_requests_between, outcomes_of_slice, aggregated_outcomes;
  `);
}
