import type { Knex } from 'knex';

/**
 * Since when this server has been seen running. A start of the server that ends in recovery empties the table, as it is
 * unlogged; any other is told by its time. So workers know whether the sessions of all of them may have ended at once.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE UNLOGGED TABLE server_seen (
      one        boolean PRIMARY KEY DEFAULT true CHECK (one),
      started_at timestamptz NOT NULL,
      seen_at    timestamptz NOT NULL
    )
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE server_seen');
}
