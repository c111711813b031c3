import pg from 'pg';
import type { DatabaseConnection } from '../platform/database.ts';

export type SessionSettings = Readonly<Record<string, string>>;

/**
 * JIT pays off for tens of millions of rows. A wrong estimate makes a stock Postgres compile a 1 ms statement for a
 * second, each time.
 */
export const everySession: SessionSettings = { jit: 'off' };

/**
 * Forces generic plans by keys: planning a claim takes 1 ms for 0.4 ms of work. Postgres keeps a plan made on nearly
 * empty tables, which would scan large ones, so these settings leave only plans by keys. A statement that needs a
 * disabled one would cost 10^10; `test/ledger/hot-plans.test.ts` rules that out.
 */
const keyedPlans: SessionSettings = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_mergejoin: 'off',
  enable_hashjoin: 'off',
};

/** For read-only commands: Postgres refuses changes. */
export const readOnly: SessionSettings = { default_transaction_read_only: 'on' };

export async function applySettings(client: pg.ClientBase, settings: SessionSettings): Promise<void> {
  // Skips settings unknown to databases that only speak Postgres's protocol. Reading pg_settings takes 2 ms.
  await client.query(
    `SELECT set_config(name, value, false)
     FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
     WHERE current_setting(name, true) IS NOT NULL`,
    [Object.keys(settings), Object.values(settings)],
  );
}

/** pg leaves a connection open that it could not log in to, and Postgres waits a minute for the password. */
class ClosingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.connection.once('error', () => this.connection.stream.destroy());
  }
}

/** Keep-alive detects a lost server within about 20 s. */
const everyConnection = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  Client: ClosingClient,
};

/**
 * Milliseconds: `monitoring` answers within a second. The first and last apply to a lost connection, the second to a
 * busy Postgres.
 */
const shortTimeouts = { connectionTimeoutMillis: 800, statement_timeout: 800, query_timeout: 850 };

type Prepare = (client: pg.ClientBase) => Promise<void>;

/**
 * For the pools see `Ledger`.
 *
 * @param prepareHot called for each connection of `hot`
 */
export function openPools(connection: DatabaseConnection, settings: SessionSettings, prepareHot: Prepare) {
  const pool = openPool(connection, settings, { max: 10 });
  const hot = openPool(connection, { ...settings, ...keyedPlans }, { max: 4 }, prepareHot);
  const monitoring = openPool(connection, settings, { ...shortTimeouts, pipeline: true, max: 2 });
  return { pool, hot, monitoring, dropConnections: trackConnections([pool, hot, monitoring]) };
}

/** Milliseconds; a report waits no longer for a replica that is away. */
const replicaTimeouts = { connectionTimeoutMillis: 2_000 };

export function openReplicaPool(connection: DatabaseConnection): pg.Pool {
  const pool = openPool(connection, { ...everySession, ...readOnly }, { ...replicaTimeouts, max: 10 });
  trackConnections([pool]);
  return pool;
}

/** One connection to a database without a ledger, for temporary tables. */
export function openScratchPool(connection: DatabaseConnection): pg.Pool {
  return openPool(connection, everySession, { max: 1 });
}

export function openPool(
  connection: DatabaseConnection,
  settings: SessionSettings,
  options: pg.PoolConfig,
  prepare: Prepare = async () => undefined,
): pg.Pool {
  return new pg.Pool({
    ...connection,
    ...everyConnection,
    ...options,
    onConnect: async (client) => {
      await applySettings(client, settings);
      await prepare(client);
    },
  });
}

/** @returns closes all connections of the pools */
function trackConnections(pools: readonly pg.Pool[]): () => void {
  const connections = new Set<pg.PoolClient>();
  for (const pool of pools) {
    // The next use of a broken idle connection reports its error.
    pool.on('error', () => undefined);
    pool.on('connect', (client) => {
      connections.add(client);
      // A connection that breaks in use fails its query. Without a listener, its error event would end the process.
      client.on('error', () => undefined);
    });
    pool.on('remove', (client) => connections.delete(client));
  }
  return () => {
    for (const client of connections) void client.end();
    connections.clear();
  };
}

/** Connections for a look at a database that may be faulty: they only read, and wait for nothing long. */
export type Inspection = { readonly pool: pg.Pool; readonly close: () => Promise<void> };

/** Milliseconds; the last one applies to a connection without answers. */
const timeouts = { connect: 4_000, statement: 4_000, answer: 4_500 };

export function openInspection(connection: DatabaseConnection): Inspection {
  const settings = { ...everySession, ...readOnly, statement_timeout: String(timeouts.statement) };
  const limits = { connectionTimeoutMillis: timeouts.connect, query_timeout: timeouts.answer };
  const pool = openPool(connection, settings, { ...limits, max: 4 });
  pool.on('error', () => undefined);
  return { pool, close: () => pool.end() };
}
