import type { RateLimits } from '../../domain/rate-limits.ts';
import type { Connection, Transaction } from '../session.ts';

const columns = 'requests_per_second AS "requestsPerSecond", recipients_per_second AS "recipientsPerSecond"';

async function readRow(client: Connection, account: string, lock: '' | 'FOR UPDATE'): Promise<RateLimits> {
  const { rows } = await client.query<RateLimits>(
    `SELECT ${columns} FROM rate_limits WHERE account = $1 ${lock}`,
    [account],
  );
  return rows[0] ?? { requestsPerSecond: null, recipientsPerSecond: null };
}

/** Reads rates that an operator set instead of those of the accounts file; null if not set. Waits for no lock. */
export function readRateLimits(client: Connection, account: string): Promise<RateLimits> {
  return readRow(client, account, '');
}

export async function listRateLimits(client: Connection): Promise<ReadonlyMap<string, RateLimits>> {
  const { rows } = await client.query<RateLimits & { readonly account: string }>(
    `
    SELECT account, ${columns}
    FROM rate_limits
    WHERE requests_per_second IS NOT NULL OR recipients_per_second IS NOT NULL
    ORDER BY account
    `,
  );
  return new Map(rows.map(({ account, ...set }) => [account, set]));
}

/** Reads as `readRateLimits` does, and keeps the limits unchanged until the end of the transaction. */
export async function lockRateLimits(client: Transaction, account: string): Promise<RateLimits> {
  await client.query('INSERT INTO rate_limits (account) VALUES ($1) ON CONFLICT DO NOTHING', [account]);
  return readRow(client, account, 'FOR UPDATE');
}

/**
 * Sets rates: null restores the rate of the accounts file; undefined keeps the present one. A changed rate starts
 * without debt.
 */
export async function setRateLimits(
  client: Connection,
  account: string,
  changes: Partial<RateLimits>,
): Promise<void> {
  await client.query(
    `
    INSERT INTO rate_limits AS l (account, requests_per_second, recipients_per_second)
    VALUES ($1, $2, $4)
    ON CONFLICT (account) DO UPDATE
    SET requests_per_second = CASE WHEN $3 THEN $2 ELSE l.requests_per_second END,
        requests_until =
          CASE WHEN $3 AND l.requests_per_second IS DISTINCT FROM $2 THEN least(l.requests_until, clock_timestamp())
               ELSE l.requests_until END,
        recipients_per_second = CASE WHEN $5 THEN $4 ELSE l.recipients_per_second END,
        recipients_until =
          CASE WHEN $5 AND l.recipients_per_second IS DISTINCT FROM $4 THEN least(l.recipients_until, clock_timestamp())
               ELSE l.recipients_until END
    `,
    [
      account,
      changes.requestsPerSecond ?? null,
      changes.requestsPerSecond !== undefined,
      changes.recipientsPerSecond ?? null,
      changes.recipientsPerSecond !== undefined,
    ],
  );
}
