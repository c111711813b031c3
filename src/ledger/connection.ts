import { fileURLToPath } from 'node:url';
import createKnex, { type Knex } from 'knex';
import pg from 'pg';
import { InputError } from '../domain/problems.ts';
import { type DatabaseConnection, isConnectionFailure } from '../platform/database.ts';
import { openQueue, type SliceQueue } from './slices/queue.ts';
import type { HashKey } from './suppressions/hash.ts';

/** The ledger's doors: `pool` for COPY and what is asked in pg's own words, `knex` for migrations and all the rest. */
export type Ledger = {
  readonly pool: pg.Pool;
  /** For claim and settle, thousands of times a run: planned once a connection, and by the keys alone. */
  readonly hot: pg.Pool;
  readonly knex: Knex;
  /** For who asks how things are: connections of its own, and no answer that takes more than a moment. */
  readonly watch: pg.Pool;
  /** Of suppressions that are known by their hashes; null where there is none, which is as well as long as none is hashed. */
  readonly hashKey: HashKey | null;
  /** What waits to be sent; opened when it is first asked for. */
  readonly queue: () => Promise<SliceQueue>;
  /**
   * Brings back a server that is ours to start and is gone, at the same address; does nothing about any other.
   *
   * @param onGone called before that
   * @throws Error that says what to do, when it cannot be brought back
   */
  readonly revive: (onGone: () => void) => Promise<void>;
  /** Gives up the pools' connections, and what is waited for on them; the next work has new ones. */
  readonly dropConnections: () => void;
  close(): Promise<void>;
};

export const migrationsFolder = fileURLToPath(new URL('../../migrations', import.meta.url));

/** Any number: two engines must not migrate one database at once. */
const migrationLock = 7_306_915_042;

export function connectLedger(connection: DatabaseConnection): Knex {
  return createKnex({ ...knexConfiguration(connection) });
}

/** Shared with `knexfile.ts`, so that `volley db migrate` and `npx knex migrate:latest` do the same. */
export function knexConfiguration(connection: DatabaseConnection): Knex.Config {
  return {
    client: 'pg',
    connection: { ...connection },
    pool: {
      min: 0,
      max: 4,
      afterCreate: (client: pg.ClientBase, done: (failure: unknown, client: pg.ClientBase) => void) => {
        applySettings(client, everySession).then(
          () => done(null, client),
          (failure: unknown) => done(failure, client),
        );
      },
    },
    // Its words of broken connections would stand among results; the failure itself is met by who asked.
    log: { warn: () => undefined, error: () => undefined },
    migrations: {
      directory: migrationsFolder,
      loadExtensions: ['.ts'],
      extension: 'ts',
    },
  };
}

/**
 * Brings the schema up to date; does nothing when it is.
 *
 * @returns the names of the migrations that were run
 */
export async function migrateLedger(knex: Knex): Promise<string[]> {
  return knex.transaction(async (lock) => {
    // Before anything else: even asking knex what is pending creates its tables.
    await lock.raw('SELECT pg_advisory_xact_lock(?)', [migrationLock]);
    const [, pending]: [unknown[], unknown[]] = await knex.migrate.list();
    if (pending.length === 0) return [];
    // Whoever held knex's own lock is gone, or it would hold ours: a killed migration must not block the next one.
    await knex.migrate.forceFreeMigrationsLock();
    const [, names]: [number, string[]] = await knex.migrate.latest();
    return names;
  });
}

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

/**
 * Opens the ledger and migrates it.
 *
 * @param revive as in `Ledger`
 * @throws InputError when the database cannot be reached
 */
export async function openLedger(
  connection: DatabaseConnection,
  description: string,
  revive: Ledger['revive'] = async () => undefined,
  hashKey: HashKey | null = null,
): Promise<Ledger> {
  const knex = connectLedger(connection);
  const openPool = (settings: PlannerSettings, options: pg.PoolConfig): pg.Pool =>
    new pg.Pool({
      ...connection,
      ...noticeSilence,
      ...options,
      onConnect: (client) => applySettings(client, settings),
    });
  const pool = openPool(everySession, { max: 10 });
  const hot = openPool(plannedByKeys, { max: 4 });
  const watch = openPool(everySession, { ...answerSoon, max: 2 });
  const connections = new Set<pg.PoolClient>();
  for (const each of [pool, hot, watch]) {
    // A pooled connection that breaks while idle is replaced at its next use; the error is reported there.
    each.on('error', () => undefined);
    each.on('connect', (client) => {
      connections.add(client);
      // One that breaks in use fails the query under way, or the next. As an event that nobody hears, also in the moment
      // in which it is handed over, it would end the process.
      client.on('error', () => undefined);
    });
    each.on('remove', (client) => connections.delete(client));
  }
  const dropConnections = (): void => {
    for (const client of connections) void client.end();
    connections.clear();
  };
  let opened: Promise<SliceQueue> | undefined;
  const queue = (): Promise<SliceQueue> => {
    opened ??= openQueue(pool);
    // A failure is met by whoever asked; the next one tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  const close = async (): Promise<void> => {
    await (await opened?.catch(() => undefined))?.stop({ graceful: false, close: false });
    await Promise.all([knex.destroy(), pool.end(), hot.end(), watch.end()]);
  };
  try {
    await pool.query('SELECT 1');
    await migrateLedger(knex);
  } catch (error) {
    await close();
    throw isConnectionFailure(error) ? unreachable(error, description) : error;
  }
  return { pool, hot, watch, knex, hashKey, queue, revive, dropConnections, close };
}

/** A server that is gone without a word is noticed within some 20 s, by connections that wait for it. */
const noticeSilence = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * Who asks `watch` answers somebody within a second (milliseconds). The first and the last hold where the other end is gone
 * without a word, the second where Postgres is busy.
 */
const answerSoon = { connectionTimeoutMillis: 800, statement_timeout: 800, query_timeout: 850 };

/** How a session of Volley's plans; by setting. */
type PlannerSettings = Readonly<Record<string, string>>;

/**
 * For every session. Compiling pays where rows are counted in tens of millions; where it is on (the default of a stock
 * Postgres), a mistaken estimate has a statement of a millisecond compiled for a second, and again each time it runs.
 */
const everySession: PlannerSettings = { jit: 'off' };

/**
 * A claim is planned anew each time, at 1 ms for 0.4 ms of work, unless generic plans are asked for. And such a plan is
 * made when the run's first attempts are written, and kept: it would read the whole table forever after, because then
 * there was next to nothing in it. So claim and settle are written so that each has a plan by keys, and these settings
 * leave the planner no other. A statement that cannot do without what is off here would cost 10^10, which leaves no
 * difference to compare; `test/ledger/hot-plans.test.ts` sees that there is none.
 */
const plannedByKeys: PlannerSettings = {
  ...everySession,
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
};

async function applySettings(client: pg.ClientBase, settings: PlannerSettings): Promise<void> {
  // Only what the database knows: others that speak Postgres's protocol have other planners.
  await client.query(
    `SELECT set_config(name, value, false)
     FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
     JOIN pg_settings USING (name)`,
    [Object.keys(settings), Object.values(settings)],
  );
}

/** Postgres's own version, such as `18.4`. */
export async function serverVersion({ pool }: Ledger): Promise<string> {
  const { rows } = await pool.query<{ server_version: string }>('SHOW server_version');
  return rows[0]?.server_version ?? 'unknown';
}

function unreachable(error: Error, description: string): InputError {
  const what = `Cannot use the database (${error.message || 'no answer'}). Is the server up, and are name and password right? Without DATABASE_URL, Volley starts its own.`;
  return new InputError([{ where: description, what }], { cause: error });
}
