import type { Knex } from 'knex';

/** How urgent runs are; of an account, the more urgent ones go first. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- -1 bulk, 0 normal, 1 urgent.
    ALTER TABLE runs ADD COLUMN priority smallint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -1 AND 1);
    CREATE INDEX runs_by_priority ON runs (account, priority) WHERE state IN ('planned', 'running');
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE runs DROP COLUMN priority');
}
