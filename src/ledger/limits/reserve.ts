import type pg from 'pg';
import type { RateLimits } from '../../domain/rates.ts';
import { clockStepBack, recordClock } from './clock.ts';

/** Requests that may be claimed from a moment on. Times are by Postgres's clock, in milliseconds since 1970. */
export type Reservation = {
  /** At least 1 and at most those asked for: about a tenth of a second's worth. */
  readonly requests: number;
  readonly now: number;
  readonly admittedAt: number;
  /** In force: an operator's, else those of the file; null: no limit. */
  readonly limits: RateLimits;
  /** By how much Postgres's clock was found to have been set back (milliseconds); 0 when it went on. */
  readonly steppedBack: number;
};

export type ReservationRequest = {
  readonly account: string;
  readonly wanted: number;
  /** How many recipients a request is thought to have; they are paid with it, and `spend` sets it right. */
  readonly recipientsEach: number;
  readonly file: RateLimits;
};

/**
 * Takes the next place in the order of all workers. Only Postgres's clock counts. Time in which nothing was asked for
 * can be made up for by a tenth of a second's worth, so that a worker may be a little late and the rate still be held. When
 * the clock is set back, what is owed stays what it was.
 *
 * A worker that dies with a reservation has used it up; nobody waits for it any longer than that.
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

/** @returns undefined when the account has no row yet */
async function reserveInRow(
  pool: pg.Pool,
  { account, wanted, recipientsEach, file }: ReservationRequest,
): Promise<Reservation | undefined> {
  // The clock is read once, after the row is locked, however long that took. What is owed is reckoned in seconds; where
  // it was reckoned at another rate, as many requests are owed at this one. Who has to wait for one of the two limits
  // uses the other up when the wait is over. greatest and least pass over a limit that is not there. A thousand million
  // seconds are for ever.
  // The commit is not waited for: it would keep the row locked for all, and three times as many reservations fit into a
  // second without (0.7 ms in place of 2.0, of four workers at once). A crash of Postgres forgets half a second of them.
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
 * Sets a reservation right once it is known what it was used for.
 *
 * @param unused requests that were reserved and not claimed: whoever asks next has their time; negative where more were
 *   sent than were reserved
 * @param recipients that were claimed beyond those that were reserved; negative where there were fewer
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

/** When the service may be asked what became of a request, by Postgres's clock, in milliseconds since 1970. */
export type ReservedLookUp = { readonly now: number; readonly admittedAt: number };

/** Takes the next second in the order of all workers; the service may be asked once a second. */
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
  if (!row) throw new Error('Postgres returned no row of a statement that always has one.');
  return { now: row.now, admittedAt: row.until - 1_000 };
}
