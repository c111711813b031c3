import type { Knex } from 'knex';

/** A token may be for some accounts only. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Null: every account.
    ALTER TABLE tokens ADD accounts text[] CHECK (cardinality(accounts) > 0);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE tokens DROP accounts');
}
