import type { Knex } from 'knex';

/** In which way a run that has to be approved was planned: on the command line, one system user is one person. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    ALTER TABLE approvals
      ADD planned_how text NOT NULL DEFAULT 'cli' CHECK (planned_how IN ('cli', 'api', 'schedule'));
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('ALTER TABLE approvals DROP planned_how');
}
