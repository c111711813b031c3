import type { Knex } from 'knex';

/**
 * Which ledger this is, and where: so that one that was restored from a backup, copied or promoted is noticed before it
 * sends anything.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ledger_place (
      one         boolean PRIMARY KEY DEFAULT true CHECK (one),
      -- A new one whenever an operator says that the ledger was restored: what was known of the one before counts no more.
      ledger      uuid NOT NULL,
      -- The server's system identifier, its timeline and the database's number, as system/timeline/database; null where
      -- nothing was claimed yet, or the server does not tell.
      place       text,
      held_at     timestamptz,
      -- Why nothing is sent.
      held_reason text,
      CHECK ((held_at IS NULL) = (held_reason IS NULL))
    );
    INSERT INTO ledger_place (ledger) VALUES (gen_random_uuid());

    DO $$
    BEGIN
      UPDATE ledger_place
      SET place = concat_ws('/', c.system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid)
      FROM pg_control_system() c, pg_database d
      WHERE d.datname = current_database();
    EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN
      -- Some managed servers do not tell.
      NULL;
    END
    $$;

    -- Runs of which a report proved a request that the ledger never tried: what is planned of them is to be in doubt.
    CREATE TABLE untried_proofs (
      run_id text PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
      reason text NOT NULL
    );

    -- One more action, whatever the list is by now.
    DO $$
    DECLARE
      definition text := (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'audit_action_check');
    BEGIN
      ALTER TABLE audit DROP CONSTRAINT audit_action_check;
      EXECUTE 'ALTER TABLE audit ADD CONSTRAINT audit_action_check '
              || replace(definition, '])))', ', ''ledger restored''::text])))');
    END
    $$;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE untried_proofs, ledger_place;
    DO $$
    DECLARE
      definition text := (SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'audit_action_check');
    BEGIN
      ALTER TABLE audit DROP CONSTRAINT audit_action_check;
      EXECUTE 'ALTER TABLE audit ADD CONSTRAINT audit_action_check '
              || replace(definition, ', ''ledger restored''::text', '');
    END
    $$;
  `);
}
