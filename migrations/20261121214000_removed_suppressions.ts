import type { Knex } from 'knex';

/**
 * When a person took a suppression away. A report that came before that does not suppress again, however often it comes
 * or is read.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE removed_suppressions (
      channel     text NOT NULL,
      address     text COLLATE "C" NOT NULL,
      sub_account text NOT NULL,
      removed_at  timestamptz NOT NULL,
      PRIMARY KEY (channel, address, sub_account)
    )
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE removed_suppressions');
}
