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
    COMMENT ON TABLE rate_limits IS
      'How fast an account may be used, over all workers (generic cell rate algorithm). A time *_until is the one '
      'at which all that was let through so far would have been let through at the steady rate. Times are by the '
      'clock of Postgres.';
    COMMENT ON COLUMN rate_limits.requests_per_second IS
      'Set by an operator, in place of the limit in the accounts file; null: the limit of the file.';
    COMMENT ON COLUMN rate_limits.recipients_per_second IS 'As requests_per_second.';
    COMMENT ON COLUMN rate_limits.requests_rate IS
      'In force when requests_until was computed; null: there was no limit.';
    COMMENT ON COLUMN rate_limits.recipients_rate IS
      'In force when recipients_until was computed; null: there was no limit.';
    COMMENT ON COLUMN rate_limits.status_until IS 'The same for status look-ups.';
    COMMENT ON COLUMN rate_limits.seen_at IS
      'When the row was last computed. A clock that is earlier than that was set back.';
    COMMENT ON COLUMN rate_limits.stepped_at IS
      'When the clock was last found to have been set back, by the new time.';
    COMMENT ON COLUMN rate_limits.stepped_by IS 'By how much it was set back then.';

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
      'Circuit breakers: accounts whose service refuses everything. The row exists while requests are held back, '
      'and is deleted when they go out again. Times are by the clock of Postgres.';
    COMMENT ON COLUMN account_breakers.retry_at IS 'When one request may try the service again.';
    COMMENT ON COLUMN account_breakers.refusals IS 'How often the service was found to refuse, the opening included.';
    COMMENT ON COLUMN account_breakers.reason IS 'The last refusal of the service.';
    COMMENT ON COLUMN account_breakers.probe IS
      'The right of one request to try the service: its answer changes the row only where this is still its own.';
    COMMENT ON COLUMN account_breakers.probe_until IS
      'Until when workers wait for the request that tries the service; after that its worker counts as dead.';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('DROP TABLE account_breakers, rate_limits');
}
