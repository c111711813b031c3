import type { Knex } from 'knex';

/** The audit trail, the tokens of the API, and which run a caller's key has started. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE audit (
      entry   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      at      timestamptz NOT NULL,
      who     text NOT NULL,
      how     text NOT NULL CHECK (how IN ('cli', 'api', 'schedule')),
      token   text,
      action  text NOT NULL CHECK (action IN (
        'run planned', 'run started', 'run resumed', 'run paused', 'run cancelled', 'run approved', 'run purged',
        'purged', 'requests resolved', 'reports replayed', 'billing closed', 'limits set', 'suppressions added',
        'suppressions removed', 'token created', 'token revoked', 'ledger restored'
      )),
      run_id  text,
      subject text,
      details json NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
      CHECK (token IS NULL OR how = 'api')
    );
    CREATE INDEX audit_run ON audit (run_id, entry) WHERE run_id IS NOT NULL;
    CREATE INDEX audit_at ON audit (at);

    CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the audit trail is only added to';
    END $$;
    CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

    CREATE TABLE tokens (
      name         text PRIMARY KEY,
      owner        text NOT NULL,
      scope        text NOT NULL CHECK (scope IN ('read', 'run', 'admin')),
      accounts     text[] CHECK (cardinality(accounts) > 0),
      sha256       bytea NOT NULL UNIQUE CHECK (octet_length(sha256) = 32),
      created_at   timestamptz NOT NULL,
      expires_at   timestamptz,
      revoked_at   timestamptz,
      last_used_at timestamptz
    );

    CREATE TABLE started_by_key (
      token   text NOT NULL REFERENCES tokens,
      key     text NOT NULL,
      request bytea NOT NULL,
      run_id  text NOT NULL UNIQUE,
      PRIMARY KEY (token, key)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE started_by_key, tokens, audit;
    DROP FUNCTION refuse_audit_change;
  `);
}
