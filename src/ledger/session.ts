import type pg from 'pg';

/**
 * Work that needs one session: a transaction, a temporary table. After a failure the session is closed, which rolls
 * back whatever it was in the middle of.
 */
export async function inSession<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

/** Something that is committed together with a change; told on the session that makes it. */
export type Alongside = (client: pg.ClientBase) => Promise<void>;

/**
 * As `inSession`, for work that is one transaction. Of a process that is gone or stands still in the middle of it,
 * Postgres may not hear for hours; what others wait for is let go after some seconds.
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  return inSession(pool, async (client) => {
    await client.query("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'");
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  });
}
