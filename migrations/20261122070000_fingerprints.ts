import type { Knex } from 'knex';

/** What a run of contact files sends to its recipients, as a digest: a run that would send the same again is found by it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE fingerprints (
      fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
      run_id      text  NOT NULL UNIQUE REFERENCES runs ON DELETE CASCADE,
      PRIMARY KEY (fingerprint, run_id)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE fingerprints');
}
