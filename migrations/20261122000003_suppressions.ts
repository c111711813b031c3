import type { Knex } from 'knex';

/** Addresses that must not be sent to. They are compared byte by byte, so their index needs no language's order. */
export async function up(knex: Knex): Promise<void> {
  await makeSuppressions(knex);
  await makeEpoch(knex);
}

async function makeSuppressions(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      address     text COLLATE "C" NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL DEFAULT '',
      reason      text NOT NULL,
      run_id      text,
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, account, sub_account)
    );
    -- One SubAccount's own among millions that are for all.
    CREATE INDEX suppressions_sub_account ON suppressions (sub_account, channel, address)
      WHERE sub_account <> '';
    COMMENT ON TABLE suppressions IS 'Addresses that must not be sent to.';
    COMMENT ON COLUMN suppressions.address IS 'Normalised; e-mail addresses in small letters. Compared byte by byte.';
    COMMENT ON COLUMN suppressions.account IS 'Whose messages; empty: those of all accounts.';
    COMMENT ON COLUMN suppressions.sub_account IS 'Empty: all SubAccounts.';
    COMMENT ON COLUMN suppressions.reason IS
      'In the words of the operator, of the recipient who replied, or of the service; may be empty.';
    COMMENT ON COLUMN suppressions.run_id IS 'The run that the reply or the delivery report is of.';
    COMMENT ON COLUMN suppressions.source IS
      'operator: a person added it. import: it was in a list. reply: the recipient answered so. report: a delivery '
      'report said so.';

    CREATE TABLE hashed_suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      hash        bytea NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL DEFAULT '',
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, hash, account, sub_account)
    );
    COMMENT ON TABLE hashed_suppressions IS 'Suppressions after a purge: only a keyed hash of the address is left.';
    COMMENT ON COLUMN hashed_suppressions.hash IS
      'HMAC-SHA-256 of channel and address. The key is not in the database.';
    COMMENT ON COLUMN hashed_suppressions.account IS 'As in suppressions.';
    COMMENT ON COLUMN hashed_suppressions.sub_account IS 'As in suppressions.';
    COMMENT ON COLUMN hashed_suppressions.source IS 'operator, import, reply, report: as in suppressions.';

    CREATE TABLE removed_suppressions (
      channel     text NOT NULL,
      address     text COLLATE "C" NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL,
      removed_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, account, sub_account)
    );
    COMMENT ON TABLE removed_suppressions IS
      'When a person removed a suppression: a report or reply that came before does not suppress the address again, '
      'however often it is read.';

    CREATE TABLE hash_key (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      proof bytea NOT NULL
    );
    COMMENT ON TABLE hash_key IS
      'One row: a check of the key of hashed_suppressions, so that Volley refuses a wrong key instead of finding no '
      'address suppressed.';
    COMMENT ON COLUMN hash_key.singleton IS 'Keeps the table to one row.';
    COMMENT ON COLUMN hash_key.proof IS 'The hash of a word that is no address.';
  `);
}

/** A trigger counts, so that no way of adding an address can leave it out. */
async function makeEpoch(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE suppression_epoch (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      epoch bigint NOT NULL
    );
    COMMENT ON TABLE suppression_epoch IS
      'One row: how often suppressions were added. A claim is granted only where none is newer than the look at the '
      'addresses.';
    COMMENT ON COLUMN suppression_epoch.singleton IS 'Keeps the table to one row.';
    INSERT INTO suppression_epoch (epoch) VALUES (1);

    CREATE FUNCTION begin_suppression_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE suppression_epoch SET epoch = epoch + 1;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER suppressions_are_new AFTER INSERT ON suppressions
      FOR EACH STATEMENT EXECUTE FUNCTION begin_suppression_epoch();
    CREATE TRIGGER hashed_suppressions_are_new AFTER INSERT ON hashed_suppressions
      FOR EACH STATEMENT EXECUTE FUNCTION begin_suppression_epoch();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE suppression_epoch, hash_key, removed_suppressions, hashed_suppressions, suppressions;
    DROP FUNCTION begin_suppression_epoch;
  `);
}
