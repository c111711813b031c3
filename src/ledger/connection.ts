import createKnex, { type Knex } from 'knex';
import pg from 'pg';
import { type ClaimMarks, createMemoryClaimMarks } from '../domain/claim-marks.ts';
import { InputError } from '../domain/problems.ts';
import type { HoldReason } from '../domain/reasons.ts';
import type { DatabaseConnection } from '../platform/database.ts';
import { isConnectionFailure } from '../platform/database-failures.ts';
import { bindToLocation, readLocation } from './location/location.ts';
import {
  type MigrationGap,
  migrationGap,
  migrationsFolder,
  prepareSchema,
  type SchemaAccess,
  type SchemaChange,
} from './schema.ts';
import {
  applySettings,
  everySession,
  keyedPlans,
  readOnly,
  type SessionSettings,
} from './session-settings.ts';
import { openQueue, type SliceQueue } from './slices/queue.ts';
import type { HashKey } from './suppressions/hash.ts';

/** The ledger's connections: `pool` for statements written in SQL, `knex` for migrations and the few queries that it builds. */
export type Ledger = {
  /** For another thread of this process to open it too. It holds a password: never log it. */
  readonly connection: DatabaseConnection;
  /** Which database it is, in words that may be shown. */
  readonly description: string;
  readonly pool: pg.Pool;
  /** For claim and settle, thousands of times a run: planned once a connection, and by the keys alone. */
  readonly hot: pg.Pool;
  readonly knex: Knex;
  /** For who asks how things are: connections of its own, and no answer that takes more than a moment. */
  readonly monitoring: pg.Pool;
  /** Of suppressions that are known by their hashes; null where there is none, which is as well as long as none is hashed. */
  readonly hashKey: HashKey | null;
  /** The last claims of this machine, outside of the ledger. */
  readonly marks: ClaimMarks;
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

export function connectLedger(connection: DatabaseConnection, settings?: SessionSettings): Knex {
  return createKnex({ ...knexConfiguration(connection, settings) });
}

/** Shared with `knexfile.ts`, so that `volley db migrate` and `npx knex migrate:latest` do the same. */
export function knexConfiguration(
  connection: DatabaseConnection,
  settings: SessionSettings = everySession,
): Knex.Config {
  return {
    client: 'pg',
    connection: { ...connection },
    pool: {
      min: 0,
      max: 4,
      afterCreate: (client: pg.ClientBase, done: (failure: unknown, client: pg.ClientBase) => void) => {
        applySettings(client, settings).then(
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

export type OpenOptions = {
  /** `make` by default. With `read`, Postgres itself refuses whatever would change the ledger. */
  readonly access?: SchemaAccess;
  readonly onSchema?: (change: SchemaChange) => void;
  readonly marks?: ClaimMarks;
};

/** @throws InputError when the database cannot be reached, or its schema is none to work with */
export async function openLedger(
  connection: DatabaseConnection,
  description: string,
  revive: Ledger['revive'] = async () => undefined,
  hashKey: HashKey | null = null,
  { access = 'create', onSchema, marks = createMemoryClaimMarks() }: OpenOptions = {},
): Promise<Ledger> {
  const commonSettings: SessionSettings = access === 'read' ? { ...everySession, ...readOnly } : everySession;
  const knex = connectLedger(connection, commonSettings);
  const openPool = (
    settings: SessionSettings,
    options: pg.PoolConfig,
    prepare: (client: pg.ClientBase) => Promise<void> = async () => undefined,
  ): pg.Pool =>
    new pg.Pool({
      ...connection,
      ...tcpKeepAlive,
      ...options,
      onConnect: async (client) => {
        await applySettings(client, settings);
        await prepare(client);
      },
    });
  const pool = openPool(commonSettings, { max: 10 });
  const hot = openPool({ ...commonSettings, ...keyedPlans }, { max: 4 }, bindToLocation);
  const monitoring = openPool(commonSettings, { ...shortTimeouts, max: 2 });
  const connections = new Set<pg.PoolClient>();
  for (const each of [pool, hot, monitoring]) {
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
    try {
      await (await opened?.catch(() => undefined))?.stop({ graceful: false, close: false });
    } catch (error) {
      // What was to be kept is committed by now; a database that is gone has nothing to close.
      if (!isConnectionFailure(error)) throw error;
    } finally {
      marks.close();
      await Promise.all([knex.destroy(), pool.end(), hot.end(), monitoring.end()]);
    }
  };
  try {
    const change = await prepareSchema(pool, knex, access, description);
    onSchema?.(change);
  } catch (error) {
    await close();
    throw isConnectionFailure(error) ? unreachable(error, description) : error;
  }
  return {
    connection,
    description,
    pool,
    hot,
    monitoring,
    knex,
    hashKey,
    marks,
    queue,
    revive,
    dropConnections,
    close,
  };
}

/** A server that is gone without a word is noticed within some 20 s, by connections that wait for it. */
const tcpKeepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/**
 * Who asks `watch` answers somebody within a second (milliseconds). The first and the last hold where the other end is gone
 * without a word, the second where Postgres is busy.
 */
const shortTimeouts = { connectionTimeoutMillis: 800, statement_timeout: 800, query_timeout: 850 };

export type DatabaseStatus = {
  readonly version: string;
  readonly gap: MigrationGap;
  /** Why nothing is sent from the ledger; null where there is none, or something may be. */
  readonly held: HoldReason | null;
};

/** Of a database with a ledger or without one. Changes nothing. @throws InputError when it cannot be reached */
export async function inspectDatabase(
  connection: DatabaseConnection,
  description: string,
): Promise<DatabaseStatus> {
  const onConnect = (client: pg.ClientBase): Promise<void> => applySettings(client, readOnly);
  const pool = new pg.Pool({ ...connection, ...tcpKeepAlive, max: 1, onConnect });
  pool.on('error', () => undefined);
  try {
    const { rows } = await pool.query<{ server_version: string }>('SHOW server_version');
    const gap = await migrationGap(pool);
    const known = !gap.empty && gap.missing.length === 0;
    const held = known ? (await readLocation(pool)).heldReason : null;
    return { version: rows[0]?.server_version ?? 'unknown', gap, held };
  } catch (error) {
    throw isConnectionFailure(error) ? unreachable(error, description) : error;
  } finally {
    await pool.end();
  }
}

function unreachable(error: Error, description: string): InputError {
  const what = `Cannot use the database (${error.message || 'no answer'}). Is the server up, and are name and password right? Without DATABASE_URL, Volley starts its own.`;
  return new InputError([{ where: description, what }], { cause: error });
}
