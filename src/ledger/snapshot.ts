import type pg from 'pg';
import { inSession, inTransactionOf, type Transaction } from './session.ts';

/**
 * As `inTransaction`, for reports: all is read as of one moment, and nothing written. Of a reader that has gone, Postgres
 * would not hear before it had all it was asked for; so it looks, each second, where the platform can.
 */
export async function inSnapshot<Result>(
  pool: pg.Pool,
  work: (client: Transaction) => Promise<Result>,
): Promise<Result> {
  return inSession(pool, async (client) => {
    const look = `SELECT set_config(name, '1s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'`;
    await client.query(look).catch(() => undefined);
    return inTransactionOf(client, work, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  });
}
