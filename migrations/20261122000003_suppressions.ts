import type { Knex } from 'knex';

/** Addresses that must not be sent to. They are compared byte by byte, so their index needs no language's order. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      address     text COLLATE "C" NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL DEFAULT '',
      reason      text NOT NULL,
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, account, sub_account)
    );
    -- One SubAccount's own among millions that are for all.
    CREATE INDEX suppressions_sub_account ON suppressions (sub_account, channel, address)
      WHERE sub_account <> '';

    CREATE TABLE hashed_suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      hash        bytea NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL DEFAULT '',
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, hash, account, sub_account)
    );

    CREATE TABLE removed_suppressions (
      channel     text NOT NULL,
      address     text COLLATE "C" NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL,
      removed_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, account, sub_account)
    );

    CREATE TABLE hash_key (
      one   boolean PRIMARY KEY DEFAULT true CHECK (one),
      proof bytea NOT NULL
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE hash_key, removed_suppressions, hashed_suppressions, suppressions');
}
