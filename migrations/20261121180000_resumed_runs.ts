import type { Knex } from 'knex';

/** Where a run was when it was last resumed: what was rejected before that is no reason to stop it again (failFast). */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE runs
      ADD COLUMN settled_before integer NOT NULL DEFAULT 0,
      ADD COLUMN rejected_before integer NOT NULL DEFAULT 0
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE runs DROP COLUMN settled_before, DROP COLUMN rejected_before');
}
