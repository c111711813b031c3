import type pg from 'pg';
import type { RateLimits } from '../../domain.ts';

/** What an operator has set in place of the accounts file's, null where nothing is, and when that was. */
export type SeenLimits = {
  readonly set: RateLimits;
  /** By Postgres's clock, in milliseconds since 1970. */
  readonly now: number;
};

/** Waits for nobody, even where the account's row is locked. */
export async function lookAtRateLimits(pool: pg.Pool, account: string): Promise<SeenLimits> {
  const { rows } = await pool.query<RateLimits & { readonly now: number }>(
    `
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
           requests_per_second AS "requestsPerSecond", recipients_per_second AS "recipientsPerSecond"
    FROM (VALUES ($1)) AS asked (account)
    LEFT JOIN rate_limits USING (account)
    `,
    [account],
  );
  const [row] = rows;
  if (!row) throw new Error('Postgres returned no row of a single value.');
  const { now, ...set } = row;
  return { set, now };
}
