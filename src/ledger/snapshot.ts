import type pg from 'pg';
import { inSession } from './session.ts';

/**
 * As `inSession`, for reports: all is read as of one moment, and nothing written. Of a reader that has gone, Postgres
 * would not hear before it had all it was asked for; so it looks, each second, where the platform can.
 */
export async function inSnapshot<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return inSession(pool, async (client) => {
    const look = `SELECT set_config(name, '1s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'`;
    await client.query(look).catch(() => undefined);
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}
