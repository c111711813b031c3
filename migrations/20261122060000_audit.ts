import type { Knex } from 'knex';

/** Who did what. Nothing in it is ever changed or taken away, and nothing in it is of a recipient. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE audit (
      entry   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at      timestamptz NOT NULL,
      who     text        NOT NULL,
      how     text        NOT NULL CHECK (how IN ('cli', 'api', 'schedule')),
      -- The token's name, where it was done with one.
      token   text        CHECK (token IS NULL OR how = 'api'),
      action  text        NOT NULL CHECK (action IN (
        'run planned', 'run started', 'run resumed', 'run paused', 'run cancelled', 'run approved', 'run purged', 'purged',
        'requests resolved', 'reports replayed', 'billing closed', 'limits set', 'suppressions added',
        'suppressions removed', 'token created', 'token revoked'
      )),
      -- No reference: what was done stays, whatever becomes of the run.
      run_id  text,
      -- The account, month or token that it was done to.
      subject text,
      -- As it was written, in its order.
      details json        NOT NULL,
      outcome text        NOT NULL CHECK (outcome IN ('done', 'refused'))
    );
    CREATE INDEX audit_run ON audit (run_id, entry) WHERE run_id IS NOT NULL;
    CREATE INDEX audit_at ON audit (at);

    CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'the audit trail is only added to';
    END $$;
    CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE audit; DROP FUNCTION refuse_audit_change()');
}
