import type pg from 'pg';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { Connection } from '../session.ts';

/** How many requests can be claimed, and from when on. Times are milliseconds since 1970, by the clock of Postgres. */
export type Reservation = {
  /** 1 to `wanted`, at most about a tenth of a second's worth. */
  readonly requests: number;
  readonly now: number;
  readonly admittedAt: number;
  /** The operator's, else those of the file; null: no limit. */
  readonly limits: RateLimits;
  /** How far the clock of Postgres was set back (milliseconds). */
  readonly steppedBack: number;
};

type ReservationRequest = {
  readonly account: string;
  readonly wanted: number;
  /** An estimate, which `spendReservation` corrects. */
  readonly recipientsEach: number;
  readonly file: RateLimits;
};

/**
 * Reserves the next time in the order of all workers, by the clock of Postgres. Up to a tenth of a second of unused
 * time is made up for, so that a worker's small delays do not lower the rate. A clock that is set back changes no
 * debt.
 *
 * A worker that ends has spent its reservation; others wait no longer for it.
 */
export async function reserveRequests(pool: pg.Pool, reserve: ReservationRequest): Promise<Reservation> {
  const reserved = await reserveInRow(pool, reserve);
  if (reserved) return reserved;
  await pool.query('INSERT INTO rate_limits (account) VALUES ($1) ON CONFLICT DO NOTHING', [reserve.account]);
  const begun = await reserveInRow(pool, reserve);
  if (begun) return begun;
  throw new Error(`The rate limits of account ${reserve.account} were deleted while they were in use.`);
}

type DbReservation = RateLimits & {
  readonly requests: number;
  readonly now: number;
  readonly wait: number;
  readonly stepped: number;
};

/** @returns undefined if the account has no row yet */
async function reserveInRow(
  pool: pg.Pool,
  { account, wanted, recipientsEach, file }: ReservationRequest,
): Promise<Reservation | undefined> {
  // Reads the clock after the lock, however long that took. Debt is kept in seconds, and converted if the rate
  // changes. A wait for one limit uses up the other. greatest and least ignore null (no limit); 1e9 seconds stand for
  // ever. Without synchronous_commit the lock is free after 0.7 ms instead of 2.0 (four workers); a crash of Postgres
  // forgets half a second of debt.
  const { rows } = await pool.query<DbReservation>(
    `
    WITH held AS MATERIALIZED (
      SELECT * FROM rate_limits WHERE account = $1 FOR UPDATE
    ), clock AS MATERIALIZED (
      SELECT clock_timestamp() AS now, set_config('synchronous_commit', 'off', true), held.*
      FROM held
    ), moment AS MATERIALIZED (
      SELECT now, step,
             coalesce(requests_per_second, $3) AS requests_in_force, requests_rate, requests_until - step AS requests_until,
             coalesce(recipients_per_second, $4) AS recipients_in_force, recipients_rate,
             recipients_until - step AS recipients_until
      FROM clock
      CROSS JOIN LATERAL (SELECT ${clockStepBack('clock', 'clock.now')} AS step) s
    ), batch AS (
      SELECT *,
             least($2::integer,
                   greatest(1, floor(coalesce(requests_in_force / 10, $2::integer))),
                   greatest(1, floor(coalesce(recipients_in_force / $5::float8 / 10, $2::integer))))::integer AS requests
      FROM moment
    ), price AS (
      SELECT *,
             requests / requests_in_force AS requests_price,
             extract(epoch FROM greatest(requests_until, now) - now)::float8
               * coalesce(requests_rate, requests_in_force) / requests_in_force AS requests_owed,
             requests * $5::float8 / recipients_in_force AS recipients_price,
             extract(epoch FROM greatest(recipients_until, now) - now)::float8
               * coalesce(recipients_rate, recipients_in_force) / recipients_in_force AS recipients_owed
      FROM batch
    ), reserved AS MATERIALIZED (
      SELECT *,
             greatest(0, requests_owed + requests_price - greatest(requests_price, 0.1),
                      recipients_owed + recipients_price - greatest(recipients_price, 0.1)) AS wait
      FROM price
    )
    UPDATE rate_limits l
    SET requests_rate = requests_in_force,
        requests_until = CASE
          WHEN requests_price IS NULL THEN '-infinity'
          ELSE now + make_interval(secs => least(greatest(requests_owed, wait) + requests_price, 1e9)) END,
        recipients_rate = recipients_in_force,
        recipients_until = CASE
          WHEN recipients_price IS NULL THEN '-infinity'
          ELSE now + make_interval(secs => least(greatest(recipients_owed, wait) + recipients_price, 1e9)) END,
        status_until = l.status_until - step,
        ${recordClock('l', 'now', 'step')}
    FROM reserved r
    WHERE l.account = $1
    RETURNING r.requests, (extract(epoch FROM r.now) * 1000)::float8 AS now, r.wait * 1000 AS wait,
              (extract(epoch FROM r.step) * 1000)::float8 AS stepped,
              r.requests_in_force AS "requestsPerSecond", r.recipients_in_force AS "recipientsPerSecond"
    `,
    [account, wanted, file.requestsPerSecond, file.recipientsPerSecond, recipientsEach],
  );
  const [row] = rows;
  if (!row) return undefined;
  const { requests, now, wait, stepped, ...limits } = row;
  return { requests, now, admittedAt: now + wait, limits, steppedBack: stepped };
}

/**
 * Corrects a reservation by its use.
 *
 * @param unused requests that were reserved and not claimed; negative if more were sent
 * @param recipients claimed beyond those reserved; negative if fewer
 */
export async function spendReservation(
  pool: pg.Pool,
  account: string,
  unused: number,
  recipients: number,
): Promise<void> {
  await pool.query(
    `
    UPDATE rate_limits
    SET requests_until = CASE
          WHEN requests_rate IS NULL THEN requests_until
          ELSE greatest(requests_until, clock_timestamp())
                 - make_interval(secs => greatest(-1e9, least($2::float8 / requests_rate, 1e9))) END,
        recipients_until = CASE
          WHEN recipients_rate IS NULL THEN recipients_until
          ELSE greatest(recipients_until, clock_timestamp())
                 + make_interval(secs => greatest(-1e9, least($3::float8 / recipients_rate, 1e9))) END
    WHERE account = $1
    `,
    [account, unused, recipients],
  );
}

/** When the service may be asked. Times are milliseconds since 1970, by the clock of Postgres. */
type ReservedLookUp = { readonly now: number; readonly admittedAt: number };

/** Reserves a look-up. The service allows one a second. */
export async function reserveLookUp(pool: pg.Pool, account: string): Promise<ReservedLookUp> {
  const step = clockStepBack('l', 'clock_timestamp()');
  const { rows } = await pool.query<{ readonly now: number; readonly until: number }>(
    `
    INSERT INTO rate_limits AS l (account, status_until, seen_at)
    VALUES ($1, clock_timestamp() + interval '1 s', clock_timestamp())
    ON CONFLICT (account) DO UPDATE
    SET status_until = greatest(l.status_until - ${step}, clock_timestamp()) + interval '1 s',
        requests_until = l.requests_until - ${step},
        recipients_until = l.recipients_until - ${step},
        ${recordClock('l', 'clock_timestamp()', step)}
    RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
              (extract(epoch FROM status_until) * 1000)::float8 AS until
    `,
    [account],
  );
  const [row] = rows;
  if (!row) throw new Error('Postgres returned no row for a statement that always returns one.');
  return { now: row.now, admittedAt: row.until - 1_000 };
}

/**
 * SQL: how far the clock was set back since the row was last used. Its times must be set back as much.
 *
 * @param row an alias
 * @param now the time
 */
export const clockStepBack = (row: string, now: string): string =>
  `greatest(${row}.seen_at - ${now}, interval '0')`;

/** SQL. Processors of one machine can differ by less. */
const reportedFrom = `interval '100 milliseconds'`;

/** SQL of assignments: the time of use, and a step. */
export const recordClock = (row: string, now: string, step: string): string => `
  seen_at = ${now},
  stepped_at = CASE WHEN ${step} > ${reportedFrom} THEN ${now} ELSE ${row}.stepped_at END,
  stepped_by = CASE WHEN ${step} > ${reportedFrom} THEN ${step} ELSE ${row}.stepped_by END`;

export type ClockStep = {
  /** By the clock as it was then. */
  readonly at: Date;
  readonly seconds: number;
};

/** Finds the last step noticed in the account since the run was planned. */
export async function findClockStep(client: Connection, run: string): Promise<ClockStep | undefined> {
  const { rows } = await client.query<ClockStep>(
    `
    SELECT l.stepped_at AS at, extract(epoch FROM l.stepped_by)::float8 AS seconds
    FROM runs r
    JOIN rate_limits l USING (account)
    -- The run may have been planned by the clock before the step.
    WHERE r.run_id = $1 AND l.stepped_at + l.stepped_by >= r.created_at
    `,
    [run],
  );
  return rows[0];
}
