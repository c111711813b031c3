import pg from 'pg';
import type { DatabaseConnection } from '../platform/database.ts';
import { applySettings, everySession, keyedPlans, type SessionSettings } from './session-settings.ts';

export type Pools = {
  readonly pool: pg.Pool;
  readonly hot: pg.Pool;
  readonly monitoring: pg.Pool;
  readonly dropConnections: () => void;
};

/** pg leaves a connection open that it could not log in to, and Postgres waits a minute for the password. */
class ClosingClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    this.connection.once('error', () => this.connection.stream.destroy());
  }
}

/** Keep-alive detects a lost server within about 20 s. */
export const everyConnection = {
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
export function openPools(
  connection: DatabaseConnection,
  settings: SessionSettings,
  prepareHot: Prepare,
): Pools {
  const pool = openPool(connection, settings, { max: 10 });
  const hot = openPool(connection, { ...settings, ...keyedPlans }, { max: 4 }, prepareHot);
  const monitoring = openPool(connection, settings, { ...shortTimeouts, max: 2 });
  return { pool, hot, monitoring, dropConnections: trackConnections([pool, hot, monitoring]) };
}

/** One connection to a database without a ledger, for temporary tables. */
export function openScratchPool(connection: DatabaseConnection): pg.Pool {
  return openPool(connection, everySession, { max: 1 });
}

function openPool(
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
