import createKnex, { type Knex } from 'knex';
import type pg from 'pg';
import { type ClaimMarks, createMemoryClaimMarks } from '../domain/claim-marks.ts';
import type { HoldReason } from '../domain/hold-reasons.ts';
import { InputError } from '../domain/problems.ts';
import type { DatabaseConnection, ReplicaSettings } from '../platform/database.ts';
import { connectionReason, isConnectionFailure } from '../platform/database-failures.ts';
import { migrationSource, readSchemaState, type SchemaState } from './fingerprint.ts';
import { bindToLocation, readLocation } from './location/location.ts';
import { applySettings, everySession, openPool, openPools, readOnly, type SessionSettings } from './pools.ts';
import { openReplica } from './replica.ts';
import { prepareSchema, type SchemaAccess, type SchemaChange } from './schema.ts';
import { openQueue, type SliceQueue } from './slices/queue.ts';
import type { HashKey } from './suppressions/hash.ts';

/** Connections: `pool` for SQL, `knex` for migrations and the few queries that it builds. */
export type Ledger = Awaited<ReturnType<typeof openLedger>>;

/**
 * Restarts a stopped server at the same address, if Volley manages it.
 *
 * @param onGone called before the restart
 * @throws Error with instructions, when the server cannot be restarted
 */
type Revive = (onGone: () => void) => Promise<void>;

export function connectLedger(connection: DatabaseConnection, settings?: SessionSettings): Knex {
  return createKnex({ ...knexConfiguration(connection, settings) });
}

/** Configures knex. `knexfile.ts` uses it too, so `volley db migrate` and `npx knex migrate:latest` do the same. */
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
    // Knex would print connection failures among results; callers get them anyway.
    log: { warn: () => undefined, error: () => undefined },
    migrations: { migrationSource },
  };
}

export type OpenOptions = {
  /** Default: `create`. With `read`, Postgres refuses changes. */
  readonly access?: SchemaAccess;
  readonly onSchema?: (change: SchemaChange) => void;
  readonly marks?: ClaimMarks;
  readonly replica?: ReplicaSettings | undefined;
};

type LedgerOptions = OpenOptions & { readonly revive?: Revive; readonly findHashKey?: () => HashKey | null };

/** @throws InputError when the database cannot be reached or its schema does not fit */
export async function openLedger(
  connection: DatabaseConnection,
  description: string,
  {
    revive = async () => undefined,
    findHashKey = () => null,
    access = 'create',
    onSchema,
    marks = createMemoryClaimMarks(),
    replica: replicaOf,
  }: LedgerOptions = {},
) {
  const settings: SessionSettings = access === 'read' ? { ...everySession, ...readOnly } : everySession;
  const knex = connectLedger(connection, settings);
  const { pool, hot, monitoring, dropConnections } = openPools(connection, settings, bindToLocation);
  const replica = replicaOf === undefined ? null : openReplica(replicaOf);
  const queue = openQueueOnce(pool);
  const close = async (): Promise<void> => {
    try {
      await queue.stop();
    } catch (error) {
      // Everything is committed by now.
      if (!isConnectionFailure(error)) throw error;
    } finally {
      marks.close();
      await Promise.all([knex.destroy(), pool.end(), hot.end(), monitoring.end(), replica?.pool.end()]);
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
    /** For threads of this process. It holds a password: never log it. */
    connection,
    /** Names the database, without secrets. */
    description,
    pool,
    /** For claims and settlements, planned once a connection, by keys. */
    hot,
    /** For monitoring: separate connections with short timeouts. */
    monitoring,
    /** Null: reports read the primary. */
    replica,
    knex,
    /** Key of hashed suppressions; null: none is known yet. Another process may make one at any time. */
    get hashKey(): HashKey | null {
      return findHashKey();
    },
    /** Claims that this machine made last, outside the ledger. */
    marks,
    queue: queue.open,
    revive,
    /** Closes all connections and fails their queries. Later work opens new ones. */
    dropConnections,
    close,
  };
}

type LazyQueue = { readonly open: () => Promise<SliceQueue>; readonly stop: () => Promise<void> };

/** Opens the queue at its first use. */
function openQueueOnce(pool: pg.Pool): LazyQueue {
  let opened: Promise<SliceQueue> | undefined;
  return {
    open: () => {
      opened ??= openQueue(pool);
      // The caller handles the failure; the next call retries.
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    },
    stop: async () => {
      await (await opened?.catch(() => undefined))?.stop({ graceful: false, close: false });
    },
  };
}

export type DatabaseStatus = {
  readonly version: string;
  readonly schema: SchemaState;
  /** Why nothing is sent from the ledger; null: it is not on hold. */
  readonly onHold: HoldReason | null;
};

/** Reads a database, with or without a ledger. @throws InputError when it cannot be reached */
export async function inspectDatabase(
  connection: DatabaseConnection,
  description: string,
): Promise<DatabaseStatus> {
  const pool = openPool(connection, readOnly, { max: 1 });
  pool.on('error', () => undefined);
  try {
    const { rows } = await pool.query<{ server_version: string }>('SHOW server_version');
    const schema = await readSchemaState(pool);
    const known = schema.kind === 'fits' || schema.kind === 'newer';
    const onHold = known ? (await readLocation(pool)).holdReason : null;
    return { version: rows[0]?.server_version ?? 'unknown', schema, onHold };
  } catch (error) {
    throw isConnectionFailure(error) ? unreachable(error, description) : error;
  } finally {
    await pool.end();
  }
}

function unreachable(error: Error, description: string): InputError {
  const what = `Cannot use the database (${connectionReason(error) || 'no answer'}). Check that the server runs, and that name and password are right. Without DATABASE_URL, Volley starts its own server.`;
  return new InputError([{ where: description, what }], { cause: error });
}
