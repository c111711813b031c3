import type { Knex } from 'knex';

/**
 * Which ledger this is, where it is, and since when its server has been running: so that a ledger that was restored from
 * a backup, copied or promoted is noticed before it sends anything, and so is a server that started again.
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
      'One row: which ledger this is, where it is, and whether it is held. Nothing is claimed from a ledger that is '
      'held.';
    COMMENT ON COLUMN ledger_location.singleton IS 'Keeps the table to one row.';
    COMMENT ON COLUMN ledger_location.ledger IS
      'New whenever an operator says that the ledger was restored: what was known of the one before counts no more.';
    COMMENT ON COLUMN ledger_location.location IS
      'system identifier/timeline/number of the database; null where nothing was claimed yet, or the server does '
      'not say.';
    COMMENT ON COLUMN ledger_location.held_at IS 'Since when it is held.';
    COMMENT ON COLUMN ledger_location.held_reason IS 
      'Why it is held: an object whose kind, with values, is one of these. former_backup: it is as it was before an '
      'operator released it. lacks_claim: one of a machine. lacks_attempt: of a request that a delivery report proves. '
      'other_server, other_timeline, other_database: it is not where it was. being_restored: an operator says so.';
    COMMENT ON COLUMN ledger_location.incomplete IS
      'It is held because something is known to be missing in it, not only because it was moved.';
    INSERT INTO ledger_location (ledger) VALUES (gen_random_uuid());

    DO $$
    BEGIN
      UPDATE ledger_location
      SET location = concat_ws('/', c.system_identifier, substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), d.oid)
      FROM pg_control_system() c, pg_database d
      WHERE d.datname = current_database();
    EXCEPTION WHEN undefined_function OR insufficient_privilege OR feature_not_supported THEN
      -- Some managed servers do not tell.
      NULL;
    END
    $$;

    CREATE UNLOGGED TABLE startup_grace (
      singleton         boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      server_started_at timestamptz NOT NULL,
      ends_at           timestamptz NOT NULL
    );
    COMMENT ON TABLE startup_grace IS
      'One row: until when no worker is taken for dead, because all sessions have ended at once and workers are coming '
      'back. A start with recovery empties the table, as it is unlogged; any other start shows by server_started_at.';
    COMMENT ON COLUMN startup_grace.singleton IS 'Keeps the table to one row.';
    COMMENT ON COLUMN startup_grace.ends_at IS '-infinity where no slice was held when the server was first seen.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE startup_grace, ledger_location');
}
