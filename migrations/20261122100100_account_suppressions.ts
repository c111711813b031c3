import type { Knex } from 'knex';

/**
 * Suppressions of one account: what its replies and reports say counts for it alone, and for accounts that go by its
 * suppressions. Without an account they are for all. A run knows the account whose suppressions hold for it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null: its own.
    ALTER TABLE runs ADD COLUMN suppressions_of text;

    ALTER TABLE suppressions
      ADD COLUMN account text NOT NULL DEFAULT '',
      DROP CONSTRAINT suppressions_pkey,
      ADD PRIMARY KEY (channel, address, account, sub_account);
    ALTER TABLE hashed_suppressions
      ADD COLUMN account text NOT NULL DEFAULT '',
      DROP CONSTRAINT hashed_suppressions_pkey,
      ADD PRIMARY KEY (channel, hash, account, sub_account);
    ALTER TABLE removed_suppressions
      ADD COLUMN account text NOT NULL DEFAULT '',
      DROP CONSTRAINT removed_suppressions_pkey,
      ADD PRIMARY KEY (channel, address, account, sub_account);
  `);
}

/** What is suppressed for one account is so for all in the earlier tables, rather than for none. */
export async function down(knex: Knex): Promise<void> {
  const tables = { suppressions: 'address', hashed_suppressions: 'hash', removed_suppressions: 'address' };
  for (const [table, key] of Object.entries(tables)) {
    await knex.raw(`
      DELETE FROM ${table} s
      USING ${table} o
      WHERE s.channel = o.channel AND s.${key} = o.${key} AND s.sub_account = o.sub_account AND s.account > o.account;
      ALTER TABLE ${table} DROP COLUMN account, ADD PRIMARY KEY (channel, ${key}, sub_account);
    `);
  }
  await knex.raw('ALTER TABLE runs DROP COLUMN suppressions_of');
}
