import type { Knex } from 'knex';

/**
 * Identity and location of the ledger, and the start of its server: a ledger that was restored, copied or promoted is
 * noticed before it sends, and so is a restarted server.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ledger_location (
      singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      ledger      uuid NOT NULL,
      location    text,
      held_at     timestamptz,
      held_reason jsonb CHECK (held_reason ->> 'kind' IN
                    ('former_backup', 'lacks_claim', 'lacks_attempt', 'other_server', 'other_timeline',
                     'other_database', 'being_restored')),
      incomplete  boolean NOT NULL DEFAULT false,
      CHECK ((held_at IS NULL) = (held_reason IS NULL))
    );
    COMMENT ON TABLE ledger_location IS
      'One row: the ledger''s identity, its location, and whether it is held. Nothing is claimed from a held '
      'ledger.';
    COMMENT ON COLUMN ledger_location.singleton IS 'Limits the table to one row.';
    COMMENT ON COLUMN ledger_location.ledger IS
      'New whenever an operator declares the ledger restored: facts about the one before no longer count.';
    COMMENT ON COLUMN ledger_location.location IS
      'system identifier/timeline/database number; null: nothing was claimed yet, or the server does not say.';
    COMMENT ON COLUMN ledger_location.held_at IS 'When the hold began.';
    COMMENT ON COLUMN ledger_location.held_reason IS
      'Why it is held: an object with a kind, and values. former_backup: it is older than its last release by an '
      'operator. lacks_claim: it lacks a claim that a machine made. lacks_attempt: it lacks the attempt that a '
      'delivery report proves. other_server, other_timeline, other_database: its location has changed. '
      'being_restored: an operator says so.';
    COMMENT ON COLUMN ledger_location.incomplete IS
      'It is held because data is known to be missing, not only because it moved.';
    INSERT INTO ledger_location (ledger) VALUES (gen_random_uuid());

    DO $$
    BEGIN
      UPDATE ledger_location
      SET location = concat_ws('/', c.system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid)
      FROM pg_control_system() c, pg_database d
      WHERE d.datname = current_database();
    EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN
      -- Some managed servers do not say where they are.
      NULL;
    END
    $$;

    CREATE UNLOGGED TABLE startup_grace (
      singleton         boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      server_started_at timestamptz NOT NULL,
      ends_at           timestamptz NOT NULL
    );
    COMMENT ON TABLE startup_grace IS
      'One row: workers are not declared ended before ends_at. After all sessions ended at once, workers need time '
      'to reconnect. The table is unlogged, so a start with recovery empties it; server_started_at reveals any '
      'other start.';
    COMMENT ON COLUMN startup_grace.singleton IS 'Limits the table to one row.';
    COMMENT ON COLUMN startup_grace.ends_at IS '-infinity: no slice was held when the server was first seen.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE startup_grace, ledger_location');
}
