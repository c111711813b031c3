import type { Knex } from 'knex';

/**
 * One row for every request, recipient and attempt, however the ledger stores them. A function takes a range of a run's
 * requests and reads no others; its view is the same for all of a run. Postgres puts both into the plan of their caller.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE FUNCTION requests_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, message_id text, envelope integer, recipients integer, state text, reason text,
      attempts integer, resends integer, divided_from integer, updated_at timestamptz
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT q.run_id, q.request, CAST(q.message_id AS text), q.envelope, q.recipients, q.state, q.reason, q.attempts,
             q.resends, q.divided_from, q.updated_at
      FROM requests q
      WHERE q.run_id = run AND q.request BETWEEN first AND last;
    END;

    CREATE FUNCTION recipients_between(run text, first integer, last integer)
    RETURNS TABLE (
      run_id text, request integer, "position" integer, line integer, address text, original_address text,
      parts smallint, tariff smallint
    )
    LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
      SELECT c.run_id, c.request, CAST(r.position AS integer), r.line, r.address, r.original_address, r.parts, r.tariff
      FROM chunks c
      CROSS JOIN LATERAL unnest(c.lines, c.addresses, c.original_addresses, c.parts, c.tariffs)
        WITH ORDINALITY AS r (line, address, original_address, parts, tariff, position)
      WHERE c.run_id = run AND c.request BETWEEN first AND last;
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

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP VIEW request_states, all_attempts, recipient_states;
    DROP FUNCTION requests_between, recipients_between, attempts_between;
  `);
}
