import type { Knex } from 'knex';

/** What a scrape asks for is found without reading the tables that grow for years. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE INDEX billing_entries_unknown ON billing_entries (unknown) WHERE unknown <> 0;
    CREATE INDEX ticks_not_run ON ticks (state) WHERE state IN ('missed', 'failed');
    CREATE INDEX runs_unfinished ON runs (run_id) WHERE state IN ('planned', 'running', 'paused');
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP INDEX billing_entries_unknown, ticks_not_run, runs_unfinished');
}
