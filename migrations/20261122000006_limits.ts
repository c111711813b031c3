import type { Knex } from 'knex';

/** How fast an account may be used, over all workers, and whether its service takes anything at all. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    CREATE TABLE rate_limits (
      account               text PRIMARY KEY,
      requests_per_second   double precision CHECK (requests_per_second > 0),
      recipients_per_second double precision CHECK (recipients_per_second > 0),
      requests_rate         double precision CHECK (requests_rate > 0),
      requests_until        timestamptz NOT NULL DEFAULT '-infinity',
      recipients_rate       double precision CHECK (recipients_rate > 0),
      recipients_until      timestamptz NOT NULL DEFAULT '-infinity',
      status_until          timestamptz NOT NULL DEFAULT '-infinity',
      seen_at               timestamptz,
      stepped_at            timestamptz,
      stepped_by            interval,
      CHECK ((stepped_at IS NULL) = (stepped_by IS NULL))
    ) WITH (fillfactor = 10);

    CREATE TABLE account_breakers (
      account     text PRIMARY KEY,
      opened_at   timestamptz NOT NULL,
      retry_at    timestamptz NOT NULL,
      tries       integer NOT NULL CHECK (tries > 0),
      reason      text NOT NULL,
      probe_until timestamptz
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE account_breakers, rate_limits');
}
