import type pg from 'pg';
import type { RateLimits } from '../../domain/rates.ts';

/**
 * What an operator has set in place of the accounts file's, null where nothing is. Waits for nobody, even where the
 * account's row is locked.
 */
export async function lookAtRateLimits(pool: pg.Pool, account: string): Promise<RateLimits> {
  const { rows } = await pool.query<RateLimits>(
    `
    SELECT requests_per_second AS "requestsPerSecond", recipients_per_second AS "recipientsPerSecond"
    FROM rate_limits
    WHERE account = $1
    `,
    [account],
  );
  return rows[0] ?? { requestsPerSecond: null, recipientsPerSecond: null };
}
