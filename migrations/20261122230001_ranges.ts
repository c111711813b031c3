import type { Knex } from 'knex';

/** An ordinary request has no row: its content, its claim and its outcome are in rows that many requests share. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE slices
      ADD COLUMN recipients integer NOT NULL DEFAULT 0,
      ADD COLUMN claimed_to integer,
      ADD COLUMN claimed_at timestamptz,
      ADD COLUMN version    integer NOT NULL DEFAULT 0;
    ALTER TABLE slices ADD CHECK ((phase = 'sending') = (claimed_to IS NOT NULL));
    ALTER TABLE requests DROP CONSTRAINT requests_run_id_envelope_fkey;
    ALTER TABLE requests ADD FOREIGN KEY (run_id) REFERENCES runs ON DELETE CASCADE;
    ALTER TABLE polls DROP CONSTRAINT polls_run_id_request_fkey;
    ALTER TABLE polls ADD FOREIGN KEY (run_id) REFERENCES runs ON DELETE CASCADE;
    ALTER TABLE resolutions DROP CONSTRAINT resolutions_run_id_request_fkey;
    ALTER TABLE resolutions ADD FOREIGN KEY (run_id) REFERENCES runs ON DELETE CASCADE;

    CREATE TABLE outcomes (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice       integer NOT NULL,
      version     integer NOT NULL,
      recorded_at timestamptz NOT NULL,
      requests    integer[] NOT NULL,
      ages_ms     integer[] NOT NULL,
      took_ms     integer[] NOT NULL,
      statuses    smallint[],
      jobs        text[],
      PRIMARY KEY (run_id, slice, version)
    );

    CREATE TABLE early_proofs (
      run_id  text NOT NULL REFERENCES runs ON DELETE CASCADE,
      request integer NOT NULL,
      PRIMARY KEY (run_id, request)
    );

    CREATE TABLE suppression_epoch (
      one   boolean PRIMARY KEY DEFAULT true CHECK (one),
      epoch bigint NOT NULL
    );
    INSERT INTO suppression_epoch (epoch) VALUES (1);
    CREATE FUNCTION begin_suppression_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE suppression_epoch SET epoch = epoch + 1;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER suppressions_are_new AFTER INSERT ON suppressions
      FOR EACH STATEMENT EXECUTE FUNCTION begin_suppression_epoch();
    CREATE TRIGGER hashed_suppressions_are_new AFTER INSERT ON hashed_suppressions
      FOR EACH STATEMENT EXECUTE FUNCTION begin_suppression_epoch();

    DROP VIEW recipient_states, request_states, all_attempts;
    DROP FUNCTION requests_between, attempts_between;

    CREATE UNIQUE INDEX slices_by_request ON slices (run_id, first_request);

    CREATE TABLE slice_outcomes (
      run_id      text NOT NULL REFERENCES runs ON DELETE CASCADE,
      slice       integer NOT NULL,
      base_at     timestamptz,
      finished_ms integer[] NOT NULL,
      took_ms     integer[] NOT NULL,
      statuses    smallint[],
      jobs        text[],
      PRIMARY KEY (run_id, slice)
    );

    CREATE FUNCTION gathered_outcomes(run text, slice integer, first integer, last integer)
    RETURNS TABLE (base_at timestamptz, finished_ms integer[], took_ms integer[], statuses smallint[], jobs text[])
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      WITH noted AS MATERIALIZED (
        SELECT a.request, b.recorded_at - a.age_ms * interval '1 millisecond' AS finished_at, a.took_ms, a.status, a.job
        FROM outcomes b
        CROSS JOIN LATERAL unnest(b.requests, b.ages_ms, b.took_ms, b.statuses, b.jobs)
          AS a (request, age_ms, took_ms, status, job)
        WHERE b.run_id = gathered_outcomes.run AND b.slice = gathered_outcomes.slice
      ), base AS MATERIALIZED (
        SELECT min(finished_at) AS base_at FROM noted
      )
      SELECT min(base.base_at),
             array_agg(CAST(extract(epoch FROM n.finished_at - base.base_at) * 1000 AS integer) ORDER BY q.request),
             array_agg(n.took_ms ORDER BY q.request),
             CASE WHEN count(n.status) > 0 THEN array_agg(n.status ORDER BY q.request) END,
             CASE WHEN count(n.job) > 0 THEN array_agg(n.job ORDER BY q.request) END
      FROM base
      CROSS JOIN generate_series(gathered_outcomes.first, gathered_outcomes.last) AS q (request)
      LEFT JOIN noted n ON n.request = q.request;
    END;

    CREATE FUNCTION ordinary_requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, slice integer, envelope integer, recipients integer, state text, reason text,
      owner uuid, claimed_at timestamptz, finished_at timestamptz, took interval, http_status integer, job text,
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
             CASE
               WHEN n.request > s.claimed_to AND s.run_state = 'cancelled' THEN 'the run was cancelled'
               ELSE 'job ' || n.job
             END,
             CASE WHEN n.request <= s.claimed_to AND n.took_ms IS NULL THEN s.owner END,
             CASE WHEN n.request <= s.claimed_to THEN s.claimed_at END,
             s.base_at + n.finished_ms * interval '1 millisecond',
             n.took_ms * interval '1 millisecond',
             CASE WHEN n.took_ms IS NOT NULL THEN coalesce(n.status, 200) END,
             n.job,
             CASE
               WHEN n.request > s.claimed_to THEN CASE s.run_state WHEN 'cancelled' THEN s.run_finished_at END
               ELSE coalesce(s.base_at + n.finished_ms * interval '1 millisecond', s.claimed_at)
             END
      FROM (
        SELECT r.run_id, r.state AS run_state, r.finished_at AS run_finished_at, s.slice, s.first_request, s.last_request,
               s.claimed_to, s.claimed_at, s.owner, o.base_at, o.finished_ms, o.took_ms, o.statuses, o.jobs
        FROM runs r
        JOIN slices s ON s.run_id = r.run_id
        LEFT JOIN LATERAL (
          -- Joined with nothing, an array is brought in from where Postgres keeps large values: once, not for each request.
          SELECT k.base_at, k.finished_ms || CAST('{}' AS integer[]) AS finished_ms,
                 k.took_ms || CAST('{}' AS integer[]) AS took_ms, k.statuses || CAST('{}' AS smallint[]) AS statuses,
                 k.jobs || CAST('{}' AS text[]) AS jobs
          FROM slice_outcomes k
          WHERE k.run_id = s.run_id AND k.slice = s.slice
          UNION ALL
          SELECT g.*
          FROM gathered_outcomes(s.run_id, s.slice, s.first_request, s.claimed_to) g
          WHERE NOT EXISTS (SELECT FROM slice_outcomes k WHERE k.run_id = s.run_id AND k.slice = s.slice)
        ) o ON true
        WHERE r.run_id = run AND s.first_request <= last
          AND s.first_request >= coalesce((
            SELECT max(b.first_request) FROM slices b WHERE b.run_id = run AND b.first_request <= first
          ), 0)
        OFFSET 0 -- The outcomes of a slice are looked up once, not for each of its requests.
      ) s
      JOIN contents c ON c.run_id = s.run_id AND c.first_request BETWEEN s.first_request AND s.last_request
      CROSS JOIN LATERAL (
        SELECT e.request, e.envelope, e.recipients, s.finished_ms[e.index] AS finished_ms, s.took_ms[e.index] AS took_ms,
               s.statuses[e.index] AS status, s.jobs[e.index] AS job
        FROM (
          SELECT c.first_request + CAST(u.place AS integer) - 1 AS request,
                 c.first_request - s.first_request + CAST(u.place AS integer) AS index, u.envelope, u.recipients
          FROM unnest(c.envelopes, c.sizes) WITH ORDINALITY AS u (envelope, recipients, place)
        ) e
      ) n
      WHERE c.first_request <= last
        AND c.first_request >= coalesce((
          SELECT max(b.first_request) FROM contents b WHERE b.run_id = run AND b.first_request <= first
        ), 0)
        AND n.request BETWEEN first AND last
        AND NOT EXISTS (
          SELECT FROM requests q WHERE q.run_id = run AND q.request = n.request AND q.request BETWEEN first AND last
        );
    END;

    CREATE FUNCTION requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, message_id text, envelope integer, recipients integer, state text, reason text,
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

    CREATE FUNCTION attempts_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, attempt integer, owner uuid, started_at timestamptz, finished_at timestamptz,
      verdict text, http_status integer, detail text
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
           CASE WHEN o.outcome IS NULL THEN q.reason ELSE o.result END AS reason,
           o.units, o.price, o.reported_at
    FROM runs r
    CROSS JOIN LATERAL requests_between(r.run_id, 1, 2147483647) q
    -- A look-up by key for each: the planner cannot know how many requests the arrays hold, and would read all for each.
    CROSS JOIN LATERAL recipients_between(r.run_id, q.request, q.request) p
    LEFT JOIN recipient_outcomes o
      ON o.run_id = r.run_id AND o.request = p.request AND o.position = p.position;

    COMMENT ON TABLE outcomes IS
      'What the holder of a slice noted in one change of it: ordinary requests that were accepted, by their first attempts.';
    COMMENT ON COLUMN outcomes.version IS 'Number of the change (slices.version).';
    COMMENT ON COLUMN outcomes.ages_ms IS 'How long before recorded_at the answer to each had come.';
    COMMENT ON COLUMN outcomes.took_ms IS 'How long the attempt of each took.';
    COMMENT ON COLUMN outcomes.statuses IS 'HTTP status of each answer; NULL: all 200.';
    COMMENT ON COLUMN outcomes.jobs IS 'The number that the service gave each; NULL: none has one.';
    COMMENT ON TABLE slice_outcomes IS
      'The outcomes of a slice that is done, in one row: an element for each of its requests, NULL of one that was not noted.';
    COMMENT ON COLUMN slice_outcomes.base_at IS 'When the first answer came.';
    COMMENT ON COLUMN slice_outcomes.finished_ms IS 'How long after base_at each answer came.';
    COMMENT ON TABLE early_proofs IS
      'Requests that had no row when a report proved that the service has them: they are accepted, however their attempts end.';
    COMMENT ON TABLE suppression_epoch IS
      'One row: how often suppressions were added. A range is claimed only where there are none newer than its content was read with.';
    COMMENT ON COLUMN slices.claimed_to IS
      'Requests up to this one, as far as they have no rows of their own, may be in flight; before the first claim it is first_request - 1.';
    COMMENT ON COLUMN slices.claimed_at IS 'When the last claim was made.';
    COMMENT ON COLUMN slices.version IS
      'How often its holders have changed what is claimed or accepted of it; each change is made on top of the one before.';
  `);
}

/** Requests that have no rows are gone with their outcomes: it is for a ledger without runs. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP VIEW recipient_states, request_states, all_attempts;
    DROP FUNCTION requests_between, attempts_between, ordinary_requests_between, gathered_outcomes;
    DROP INDEX slices_by_request;
    DROP TRIGGER hashed_suppressions_are_new ON hashed_suppressions;
    DROP TRIGGER suppressions_are_new ON suppressions;
    DROP FUNCTION begin_suppression_epoch;
    DROP TABLE suppression_epoch, early_proofs, outcomes, slice_outcomes;
    ALTER TABLE requests ADD FOREIGN KEY (run_id, envelope) REFERENCES envelopes ON DELETE CASCADE;
    ALTER TABLE polls ADD FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE;
    ALTER TABLE resolutions ADD FOREIGN KEY (run_id, request) REFERENCES requests ON DELETE CASCADE;
    ALTER TABLE slices DROP COLUMN recipients, DROP COLUMN claimed_to, DROP COLUMN claimed_at, DROP COLUMN version;

    CREATE FUNCTION requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, message_id text, envelope integer, recipients integer, state text, reason text,
      attempts integer, resends integer, divided_from integer, updated_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT q.run_id, q.request, message_id(r.run_number, r.message_key, q.request), q.envelope, q.recipients, q.state,
             q.reason, q.attempts, q.resends, q.divided_from, q.updated_at
      FROM requests q
      LEFT JOIN runs r ON r.run_id = q.run_id
      WHERE q.run_id = run AND q.request BETWEEN first AND last;
    END;
    CREATE FUNCTION attempts_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, attempt integer, owner uuid, started_at timestamptz, finished_at timestamptz,
      verdict text, http_status integer, detail text
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT a.run_id, a.request, a.attempt, a.owner, a.started_at, a.finished_at, a.verdict, a.http_status, a.detail
      FROM attempts a
      WHERE a.run_id = run AND a.request BETWEEN first AND last;
    END;
    CREATE VIEW request_states AS
    SELECT q.* FROM runs r CROSS JOIN LATERAL requests_between(r.run_id, 1, 2147483647) q;
    CREATE VIEW all_attempts AS
    SELECT a.* FROM runs r CROSS JOIN LATERAL attempts_between(r.run_id, 1, 2147483647) a;
    CREATE VIEW recipient_states AS
    SELECT q.run_id, q.request, q.message_id, q.envelope, p.position, p.line, p.address, p.original_address, p.parts,
           p.tariff, q.state AS request_state, o.outcome,
           CASE WHEN o.outcome IS NULL THEN q.reason ELSE o.result END AS reason,
           o.units, o.price, o.reported_at
    FROM runs r
    CROSS JOIN LATERAL requests_between(r.run_id, 1, 2147483647) q
    JOIN LATERAL recipients_between(r.run_id, 1, 2147483647) p ON p.request = q.request
    LEFT JOIN recipient_outcomes o
      ON o.run_id = r.run_id AND o.request = p.request AND o.position = p.position;
  `);
}
