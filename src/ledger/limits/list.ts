import type pg from 'pg';
import type { RateLimits } from '../../domain/rates.ts';

/** The accounts that an operator has set a rate for, and the rates; null: that of the accounts file. */
export async function listRateLimits(pool: pg.Pool): Promise<ReadonlyMap<string, RateLimits>> {
  const { rows } = await pool.query<RateLimits & { readonly account: string }>(
    `
    SELECT account, requests_per_second AS "requestsPerSecond", recipients_per_second AS "recipientsPerSecond"
    FROM rate_limits
    WHERE requests_per_second IS NOT NULL OR recipients_per_second IS NOT NULL
    ORDER BY account
    `,
  );
  return new Map(rows.map(({ account, ...set }) => [account, set]));
}
