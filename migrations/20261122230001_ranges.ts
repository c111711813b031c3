import type { Knex } from 'knex';

/** An ordinary request has no row: its content, its claim and its outcome are in rows that many requests share. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE slices
      ADD COLUMN recipients integer NOT NULL DEFAULT 0,
      ADD COLUMN claimed_to integer NOT NULL,
      ADD COLUMN claimed_at timestamptz,
      ADD COLUMN version    integer NOT NULL DEFAULT 0;
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

    CREATE FUNCTION ordinary_requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, slice integer, envelope integer, recipients integer, state text, reason text,
      owner uuid, claimed_at timestamptz, finished_at timestamptz, took interval, http_status integer, job text, updated_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT r.run_id, n.request, c.slice, n.envelope, n.recipients,
             CASE
               WHEN n.request > s.claimed_to THEN CASE r.state WHEN 'cancelled' THEN 'cancelled' ELSE 'planned' END
               WHEN o.request IS NULL THEN 'sending'
               ELSE 'accepted'
             END,
             CASE WHEN n.request > s.claimed_to AND r.state = 'cancelled' THEN 'the run was cancelled' ELSE 'job ' || o.job END,
             CASE WHEN n.request <= s.claimed_to AND o.request IS NULL THEN s.owner END,
             CASE WHEN n.request <= s.claimed_to THEN s.claimed_at END,
             o.finished_at, o.took, o.http_status, o.job,
             CASE
               WHEN n.request > s.claimed_to THEN CASE r.state WHEN 'cancelled' THEN r.finished_at END
               ELSE coalesce(o.finished_at, s.claimed_at)
             END
      FROM runs r
      JOIN contents c ON c.run_id = r.run_id
      JOIN slices s ON s.run_id = r.run_id AND s.slice = c.slice
      CROSS JOIN LATERAL (
        SELECT c.first_request + CAST(e.index AS integer) - 1 AS request, e.envelope, e.recipients
        FROM unnest(c.envelopes, c.sizes) WITH ORDINALITY AS e (envelope, recipients, index)
      ) n
      LEFT JOIN (
        SELECT b.run_id, b.slice, a.request, b.recorded_at - a.age_ms * interval '1 millisecond' AS finished_at,
               a.took_ms * interval '1 millisecond' AS took,
               CASE WHEN b.statuses IS NULL THEN 200 ELSE a.status END AS http_status, a.job
        FROM outcomes b
        CROSS JOIN LATERAL unnest(b.requests, b.ages_ms, b.took_ms, b.statuses, b.jobs)
          AS a (request, age_ms, took_ms, status, job)
      ) o ON o.run_id = r.run_id AND o.slice = c.slice AND o.request = n.request
      WHERE r.run_id = run
        AND c.first_request <= last
        AND c.first_request >= coalesce((
          SELECT max(b.first_request) FROM contents b WHERE b.run_id = run AND b.first_request <= first
        ), 0)
        AND n.request BETWEEN first AND last
        AND NOT EXISTS (SELECT FROM requests q WHERE q.run_id = run AND q.request = n.request);
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
    JOIN LATERAL recipients_between(r.run_id, 1, 2147483647) p ON p.request = q.request
    LEFT JOIN recipient_outcomes o
      ON o.run_id = r.run_id AND o.request = p.request AND o.position = p.position;
  `);
}

/** The area's migration makes all of it; this one goes into it. */
export async function down(): Promise<void> {
  throw new Error('not to be undone');
}
