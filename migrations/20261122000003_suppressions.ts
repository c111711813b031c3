import type { Knex } from 'knex';

/** Suppressed addresses. They are compared byte by byte, so their index needs no collation. */
export async function up(knex: Knex): Promise<void> {
  await createSuppressions(knex);
  await createEpoch(knex);
}

async function createSuppressions(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      address     text COLLATE "C" NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL DEFAULT '',
      reason      text NOT NULL,
      run_id      text,
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      added_by    text,
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, account, sub_account)
    );
    -- Finds suppressions of one SubAccount among millions of global ones.
    CREATE INDEX suppressions_sub_account ON suppressions (sub_account, channel, address)
      WHERE sub_account <> '';
    -- Pages of the suppressions of one account, or of people and the service, among millions of imported ones.
    CREATE INDEX suppressions_account ON suppressions (account, channel, address, sub_account)
      WHERE account <> '';
    CREATE INDEX suppressions_source ON suppressions (source, channel, address, account, sub_account)
      WHERE source <> 'import';
    COMMENT ON TABLE suppressions IS 'Addresses that must not be sent to.';
    COMMENT ON COLUMN suppressions.address IS 'Normalised, e-mail addresses in lower case. Compared byte by byte.';
    COMMENT ON COLUMN suppressions.account IS 'The account whose messages it applies to; empty: all accounts.';
    COMMENT ON COLUMN suppressions.sub_account IS 'Empty: all SubAccounts.';
    COMMENT ON COLUMN suppressions.reason IS
      'In the words of the operator, the recipient who replied, or the service; may be empty.';
    COMMENT ON COLUMN suppressions.run_id IS 'The run of the reply or delivery report.';
    COMMENT ON COLUMN suppressions.source IS
      'operator: an operator added it. import: a list contained it. reply: the recipient opted out by reply. '
      'report: a delivery report says that the recipient opted out.';
    COMMENT ON COLUMN suppressions.added_by IS
      'The person who added or imported it; null: a reply or a delivery report did.';

    CREATE TABLE hashed_suppressions (
      channel     text NOT NULL CHECK (channel IN ('email', 'sms', 'fax', 'voice', 'tts')),
      hash        bytea NOT NULL,
      account     text NOT NULL DEFAULT '',
      sub_account text NOT NULL DEFAULT '',
      source      text NOT NULL CHECK (source IN ('operator', 'import', 'reply', 'report')),
      created_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, hash, account, sub_account)
    );
    COMMENT ON TABLE hashed_suppressions IS 'Suppressions after a purge, with a keyed hash instead of the address.';
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
      'When an operator removed a suppression. Earlier delivery reports and replies do not suppress the address '
      'again, however often they are read.';

    CREATE TABLE hash_key (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      proof     bytea NOT NULL
    );
    COMMENT ON TABLE hash_key IS
      'One row: a proof of the key of hashed_suppressions. With it Volley refuses a wrong key, instead of finding '
      'no address suppressed.';
    COMMENT ON COLUMN hash_key.singleton IS 'Limits the table to one row.';
    COMMENT ON COLUMN hash_key.proof IS 'The hash of a word that is no address.';
  `);
}

/** A trigger counts, so that suppressions added by hand count too. */
async function createEpoch(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE suppression_epoch (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      epoch     bigint NOT NULL
    );
    COMMENT ON TABLE suppression_epoch IS
      'One row: counts statements that added suppressions. A claim is granted only if none was added since its '
      'addresses were checked.';
    COMMENT ON COLUMN suppression_epoch.singleton IS 'Limits the table to one row.';
    INSERT INTO suppression_epoch (epoch) VALUES (1);

    CREATE FUNCTION begin_suppression_epoch() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE suppression_epoch SET epoch = epoch + 1;
      RETURN NULL;
    END
    $$;
    CREATE TRIGGER suppressions_begin_epoch AFTER INSERT ON suppressions
      FOR EACH STATEMENT EXECUTE FUNCTION begin_suppression_epoch();
    CREATE TRIGGER hashed_suppressions_begin_epoch AFTER INSERT ON hashed_suppressions
      FOR EACH STATEMENT EXECUTE FUNCTION begin_suppression_epoch();
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    DROP TABLE suppression_epoch, hash_key, removed_suppressions, hashed_suppressions, suppressions;
    DROP FUNCTION begin_suppression_epoch;
  `);
}
