import type { Knex } from 'knex';

/**
 * Forgetting. A run that was purged has no addresses, names, bodies and files any more, and says since when. A suppression
 * that was is known by a keyed hash of its address; the key is not in the database, only a check of it, so that a wrong
 * one is told from nobody's being suppressed.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE runs
      ADD COLUMN purged_at timestamptz,
      -- Its purge was begun, and has not ended.
      ADD COLUMN purging boolean NOT NULL DEFAULT false;

    CREATE TABLE hashed_suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      hash        bytea NOT NULL,
      sub_account text NOT NULL DEFAULT '',
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, hash, sub_account)
    );

    CREATE TABLE hash_key (
      one   boolean PRIMARY KEY DEFAULT true CHECK (one),
      -- The hash of a word that is no address.
      proof bytea NOT NULL
    );
  `);
}

/** Who is suppressed by a hash alone cannot be told in the earlier tables: such a ledger stays at this one. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DO $$
    BEGIN
      IF EXISTS (SELECT FROM hashed_suppressions) THEN
        RAISE EXCEPTION 'suppressions are kept as hashes, which earlier versions would not heed';
      END IF;
    END
    $$;
    DROP TABLE hash_key, hashed_suppressions;
    ALTER TABLE runs DROP COLUMN purged_at, DROP COLUMN purging;
  `);
}
