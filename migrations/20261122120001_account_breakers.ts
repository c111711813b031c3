import type { Knex } from 'knex';

/** Accounts whose service refuses everything: a row while requests are held back, none while they go out. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Times are by Postgres's clock. Changed only when the service refuses, and when one request tries it again.
    CREATE TABLE account_breakers (
      account     text PRIMARY KEY,
      opened_at   timestamptz NOT NULL,
      -- When one request may try the service again, and how often that was done, the opening included.
      retry_at    timestamptz NOT NULL,
      tries       integer NOT NULL CHECK (tries > 0),
      -- The service's last refusal.
      reason      text NOT NULL,
      -- Until when the request that tries it is waited for; a worker that dies with it is waited for no longer.
      probe_until timestamptz
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE account_breakers');
}
