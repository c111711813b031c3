import type pg from 'pg';

declare const begun: unique symbol;

/** A session whose transaction has begun. Only `inTransaction` and `inTransactionOf` can give one. */
export type Transaction = pg.ClientBase & { readonly [begun]: true };

/** What one statement can be asked of: any session of the pool, or one that is in a transaction or not. */
export type Connection = pg.Pool | pg.ClientBase;

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

/** Something that is committed together with a change. */
export type Alongside = (client: Transaction) => Promise<void>;

/**
 * As `inSession`, for work that is one transaction. Of a process that is gone or stands still in the middle of it,
 * Postgres may not hear for hours; what others wait for is let go after some seconds.
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: Transaction) => Promise<Result>,
  begin = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'",
): Promise<Result> {
  return inSession(pool, (client) => inTransactionOf(client, work, begin));
}

/** One transaction of a session. A failure leaves it open: the session is to be closed. */
export async function inTransactionOf<Result>(
  session: pg.ClientBase,
  work: (client: Transaction) => Promise<Result>,
  begin = 'BEGIN',
): Promise<Result> {
  await session.query(begin);
  const result = await work(session as Transaction);
  await session.query('COMMIT');
  return result;
}

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
