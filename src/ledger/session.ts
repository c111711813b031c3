import type pg from 'pg';

declare const transactionMark: unique symbol;

/**
 * For questions that a replica may answer. What writes, or decides about sending, takes a `Connection` or a `Transaction`
 * instead, which a replica never is.
 */
export type ReadConnection = Pick<pg.ClientBase, 'query'>;

/** A `ReadConnection` in one read-only snapshot. */
export type Snapshot = Pick<pg.ClientBase, 'query' | 'escapeIdentifier'> & {
  readonly [transactionMark]: true;
};

/** A session in a transaction, from `inTransaction` or `inTransactionOf`. */
export type Transaction = pg.ClientBase & Snapshot;

/** One connection, in which temporary tables stay. */
export type Session = pg.ClientBase;

export type Connection = pg.Pool | Session;

/** Runs work that needs one session, such as a transaction. A failure closes the session, which rolls back. */
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

/** Like `inSession`, in a session that is closed afterwards, with its temporary tables. */
export async function inOwnSession<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release(true);
  }
}

/** Work in the same transaction. */
export type Alongside = (client: Transaction) => Promise<void>;

/**
 * Like `inSession`, in a transaction. The timeout frees the locks of a hanging process, which Postgres may not notice
 * for hours.
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  work: (client: Transaction) => Promise<Result>,
  begin = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '10s'",
): Promise<Result> {
  return inSession(pool, (client) => inTransactionOf(client, work, begin));
}

/** The caller closes the session after a failure: the transaction stays open. */
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

/** One read-only snapshot for all statements of a transaction. */
const oneSnapshot = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

type Reads = Readonly<Record<string, Promise<unknown>>>;
type Answers<Asked extends Reads> = { readonly [Name in keyof Asked]: Awaited<Asked[Name]> };

/**
 * Reads for a page, in one snapshot and one round trip: the pool `monitoring` sends a statement before the one before it
 * is answered.
 *
 * @param begin each of its reads is one statement
 */
export async function readTogether<Asked extends Reads>(
  monitoring: pg.Pool,
  begin: (client: Transaction) => Asked,
): Promise<Answers<Asked>> {
  return inSession(monitoring, async (client) => {
    const begun = client.query(oneSnapshot);
    const asked = Object.entries(begin(client as pg.ClientBase as Transaction));
    const reads = asked.map(async ([name, read]) => [name, await read] as const);
    const [answers] = await Promise.all([Promise.all(reads), begun, client.query('COMMIT')]);
    return Object.fromEntries(answers) as Answers<Asked>;
  });
}

/**
 * Like `inTransaction`, for reports: one read-only snapshot. Postgres checks the connection each second, where it
 * can; otherwise it would finish the query of a disconnected reader.
 */
export async function inSnapshot<Result>(
  pool: pg.Pool,
  work: (client: Transaction) => Promise<Result>,
): Promise<Result> {
  return inSession(pool, async (client) => {
    const look = `SELECT set_config(name, '1s', false) FROM pg_settings WHERE name = 'client_connection_check_interval'`;
    await client.query(look).catch(() => undefined);
    return inTransactionOf(client, work, oneSnapshot);
  });
}

/**
 * Works while no other session has the lock.
 *
 * @param may has a row, if the lock may be taken; $1 is its name
 * @returns undefined if it is not taken
 */
export async function inLock<Result>(
  pool: pg.Pool,
  may: { readonly sql: string; readonly values: readonly string[] },
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  const client = await pool.connect();
  // An error event without a listener would end the process; the query fails anyway.
  client.on('error', () => undefined);
  try {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS locked FROM (${may.sql}) AS may`,
      [...may.values],
    );
    return rows[0]?.locked ? await work() : undefined;
  } finally {
    // Ending the session frees its locks too, but a moment later.
    await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
    client.release(true);
  }
}
