import type { Knex } from 'knex';

/**
 * Which ledger this is, where it is, and since when its server has been running: so that a ledger that was restored from
 * a backup, copied or promoted is noticed before it sends anything, and so is a server that started again.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE ledger_place (
      one         boolean PRIMARY KEY DEFAULT true CHECK (one),
      ledger      uuid NOT NULL,
      place       text,
      held_at     timestamptz,
      held_reason text,
      incomplete  boolean NOT NULL DEFAULT false,
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

    CREATE UNLOGGED TABLE server_seen (
      one        boolean PRIMARY KEY DEFAULT true CHECK (one),
      started_at timestamptz NOT NULL,
      seen_at    timestamptz NOT NULL
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE server_seen, ledger_place');
}
