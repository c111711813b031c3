import type pg from 'pg';
import { noteClock, stepBack } from './clock.ts';

/** When the service may be asked what became of a request, by Postgres's clock, in milliseconds since 1970. */
export type ReservedLookUp = { readonly now: number; readonly admittedAt: number };

/** Takes the next second in the order of all workers; the service may be asked once a second. */
export async function reserveLookUp(pool: pg.Pool, account: string): Promise<ReservedLookUp> {
  const step = stepBack('l', 'clock_timestamp()');
  const { rows } = await pool.query<{ readonly now: number; readonly until: number }>(
    `
    INSERT INTO rate_limits AS l (account, status_until, seen_at)
    VALUES ($1, clock_timestamp() + interval '1 s', clock_timestamp())
    ON CONFLICT (account) DO UPDATE
    SET status_until = greatest(l.status_until - ${step}, clock_timestamp()) + interval '1 s',
        requests_until = l.requests_until - ${step},
        recipients_until = l.recipients_until - ${step},
        ${noteClock('l', 'clock_timestamp()', step)}
    RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
              (extract(epoch FROM status_until) * 1000)::float8 AS until
    `,
    [account],
  );
  const [row] = rows;
  if (!row) throw new Error('Postgres returned no row of a statement that always has one.');
  return { now: row.now, admittedAt: row.until - 1_000 };
}
