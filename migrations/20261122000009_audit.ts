import type { Knex } from 'knex';

/** The audit trail, API tokens, sessions of the dashboard, and runs started by idempotency keys. */
export async function up(knex: Knex): Promise<void> {
  await createAudit(knex);
  await createTokens(knex);
}

async function createAudit(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE audit (
      entry   bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
      at      timestamptz NOT NULL,
      actor   text NOT NULL,
      via     text NOT NULL CHECK (via IN ('cli', 'api', 'dashboard', 'schedule')),
      token   text,
      action  text NOT NULL CHECK (action IN (
        'run planned', 'run started', 'run resumed', 'run paused', 'run cancelled', 'run approved', 'run purged',
        'purged', 'requests resolved', 'delivery reports replayed', 'billing closed', 'limits set', 'suppressions added',
        'suppressions removed', 'token created', 'token revoked', 'ledger restored'
      )),
      run_id  text,
      subject text,
      details json NOT NULL,
      outcome text NOT NULL CHECK (outcome IN ('done', 'refused')),
      CHECK (token IS NULL OR via IN ('api', 'dashboard'))
    );
    CREATE INDEX audit_run ON audit (run_id, entry) WHERE run_id IS NOT NULL;
    CREATE INDEX audit_at ON audit (at);
    COMMENT ON TABLE audit IS
      'Actions of people and schedules. Rows are only added, and contain nothing about recipients.';
    COMMENT ON COLUMN audit.actor IS 'user@host, the owner of a token, or a schedule.';
    COMMENT ON COLUMN audit.via IS 'cli: on the command line. api: with a token. '
      'dashboard: in its pages, signed in with a token. schedule: by a schedule.';
    COMMENT ON COLUMN audit.token IS 'Name of the token.';
    COMMENT ON COLUMN audit.run_id IS 'No foreign key: the row outlives the run.';
    COMMENT ON COLUMN audit.subject IS 'The account, month or token of the action.';
    COMMENT ON COLUMN audit.details IS 'As written, with its order of keys.';
    COMMENT ON COLUMN audit.outcome IS 'done, or refused by Volley.';

    CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the audit trail is append-only';
    END $$;
    CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
  `);
}

async function createTokens(knex: Knex): Promise<void> {
  await knex.raw(`
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
    COMMENT ON TABLE tokens IS 'Tokens of the API. Volley stores only a digest.';
    COMMENT ON COLUMN tokens.name IS 'Never reused, so that it means one token in the audit trail.';
    COMMENT ON COLUMN tokens.owner IS 'The person it stands for.';
    COMMENT ON COLUMN tokens.scope IS
      'read: look. run: also plan, start, pause, resume and cancel runs. admin: everything.';
    COMMENT ON COLUMN tokens.accounts IS 'Null: all accounts.';
    COMMENT ON COLUMN tokens.sha256 IS 'Of the token.';
    COMMENT ON COLUMN tokens.last_used_at IS 'To the minute.';

    CREATE TABLE sessions (
      sha256     bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
      token      text NOT NULL REFERENCES tokens,
      created_at timestamptz NOT NULL,
      used_at    timestamptz NOT NULL
    );
    COMMENT ON TABLE sessions IS 'Sessions of the dashboard. Each ends with its token, or by its age.';
    COMMENT ON COLUMN sessions.sha256 IS 'Of the id, which only the browser has.';
    COMMENT ON COLUMN sessions.token IS 'With which the person signed in.';
    COMMENT ON COLUMN sessions.used_at IS 'To the minute.';

    CREATE TABLE started_by_key (
      token   text NOT NULL REFERENCES tokens,
      key     text NOT NULL,
      request bytea NOT NULL,
      run_id  text NOT NULL UNIQUE,
      PRIMARY KEY (token, key)
    );
    COMMENT ON TABLE started_by_key IS
      'The run that an idempotency key started, written in the transaction that makes the run. A repeated call '
      'finds it.';
    COMMENT ON COLUMN started_by_key.key IS 'The caller chooses it, once for each run.';
    COMMENT ON COLUMN started_by_key.request IS 'Digest of the call: another call with the same key is refused.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE started_by_key, sessions, tokens, audit;
    DROP FUNCTION refuse_audit_change;
  `);
}
