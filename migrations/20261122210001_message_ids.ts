import type { Knex } from 'knex';

/**
 * A MessageID says run and request, with a keyed check: it is computed where it is wanted, and a request is found by
 * arithmetic (`src/ledger/message-id.ts` has the same rule). The join with runs is dropped from the plan of a
 * caller that does not ask for it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE runs ADD COLUMN run_number integer GENERATED ALWAYS AS IDENTITY UNIQUE;
    COMMENT ON COLUMN runs.run_number IS 'What its MessageIDs call it.';
    COMMENT ON COLUMN runs.message_key IS
      'Random, for the checks of the run''s MessageIDs: without it nobody can make one.';

    CREATE FUNCTION message_id(run_number integer, message_key bytea, request integer) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN encode(
      int4send(run_number) || int4send(request)
        || substring(sha256(message_key || int4send(run_number) || int4send(request)) FROM 1 FOR 10),
      'hex'
    );
    COMMENT ON FUNCTION message_id IS
      'The MessageID of a request: 8 hex digits of the run''s number, 8 of the request''s, 20 of a check that only the key can make';

    CREATE OR REPLACE FUNCTION requests_between(run text, first integer, last integer)
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

    ALTER TABLE requests DROP COLUMN message_id;
    DROP DOMAIN message_id;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE DOMAIN message_id AS text CHECK (VALUE ~ '^[0-9A-Za-z]{1,40}$');
    ALTER TABLE requests ADD COLUMN message_id message_id;
    UPDATE requests q
    SET message_id = message_id(r.run_number, r.message_key, q.request)
    FROM runs r
    WHERE r.run_id = q.run_id;
    ALTER TABLE requests ALTER COLUMN message_id SET NOT NULL;
    CREATE INDEX requests_message_id ON requests (message_id);

    CREATE OR REPLACE FUNCTION requests_between(run text, first integer, last integer)
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

    DROP FUNCTION message_id;
    ALTER TABLE runs DROP COLUMN run_number;
  `);
}
