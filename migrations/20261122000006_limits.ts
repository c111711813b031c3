import type { Knex } from 'knex';

/** Send rates and circuit breakers of accounts, over all workers. */
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
    COMMENT ON TABLE rate_limits IS
      'Send rates of accounts over all workers (generic cell rate algorithm). A column *_until is the time at which '
      'everything granted so far would be sent at the steady rate. Times are by the clock of Postgres.';
    COMMENT ON COLUMN rate_limits.requests_per_second IS
      'An operator''s limit, instead of the one in the accounts file; null: the file''s.';
    COMMENT ON COLUMN rate_limits.recipients_per_second IS 'As requests_per_second.';
    COMMENT ON COLUMN rate_limits.requests_rate IS 'The limit by which requests_until was computed; null: no limit.';
    COMMENT ON COLUMN rate_limits.recipients_rate IS
      'The limit by which recipients_until was computed; null: no limit.';
    COMMENT ON COLUMN rate_limits.status_until IS 'The same for status look-ups.';
    COMMENT ON COLUMN rate_limits.seen_at IS 'When the row was last computed. An earlier clock was set back.';
    COMMENT ON COLUMN rate_limits.stepped_at IS 'When a clock that was set back was last noticed, by the new time.';
    COMMENT ON COLUMN rate_limits.stepped_by IS 'By how much it was set back.';

    CREATE TABLE account_breakers (
      account     text PRIMARY KEY,
      opened_at   timestamptz NOT NULL,
      retry_at    timestamptz NOT NULL,
      refusals    integer NOT NULL CHECK (refusals > 0),
      reason      text NOT NULL,
      probe       uuid,
      probe_until timestamptz,
      CHECK ((probe IS NULL) = (probe_until IS NULL))
    );
    COMMENT ON TABLE account_breakers IS
      'Circuit breakers of accounts whose service refuses everything. A row exists while requests are held back. '
      'Times are by the clock of Postgres.';
    COMMENT ON COLUMN account_breakers.retry_at IS 'When one request may probe the service.';
    COMMENT ON COLUMN account_breakers.refusals IS
      'How often the service was found to refuse, including the first time.';
    COMMENT ON COLUMN account_breakers.reason IS 'The service''s last refusal.';
    COMMENT ON COLUMN account_breakers.probe IS
      'The request that may probe the service. Its answer counts only while this id is unchanged.';
    COMMENT ON COLUMN account_breakers.probe_until IS
      'When workers stop waiting for the probe: its worker has ended.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE account_breakers, rate_limits');
}
