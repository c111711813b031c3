import type { Knex } from 'knex';

/**
 * A run of mended contacts knows the runs that its contacts were left out of, so that it leaves out recipients whom one of
 * them reached. `source_run` says something else: a run that was made from the recipients of another, without a file.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE run_origins (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      origin text NOT NULL REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (run_id, origin)
    );
    CREATE INDEX run_origins_origin ON run_origins (origin);
  `);
}

/** Runs of mended contacts are runs like any other. */
export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE run_origins');
}
