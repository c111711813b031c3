import type { Knex } from 'knex';

/**
 * What tells the contacts of a run from one another, where that is not their address: a digest of the columns of
 * `contacts.key`, or of the whole row with `duplicates: allow`. A run of mended contacts compares by it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE recipient_keys (
      run_id text NOT NULL REFERENCES runs ON DELETE CASCADE,
      line   integer NOT NULL,
      key    uuid NOT NULL,
      PRIMARY KEY (run_id, line)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE recipient_keys');
}
