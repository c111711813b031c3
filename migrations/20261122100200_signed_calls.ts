import type { Knex } from 'knex';

/** Signed calls of the webhook, as long as their signatures hold: each is taken once. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE signed_calls (
      account     text NOT NULL,
      -- Of what the signature covers.
      digest      bytea NOT NULL,
      received_at timestamptz NOT NULL,
      PRIMARY KEY (account, digest)
    );
    CREATE INDEX signed_calls_received ON signed_calls (received_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE signed_calls');
}
