import { createRequire } from 'node:module';
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Db, PgBoss } from 'pg-boss';
import { z } from 'zod';
import type { Connection, Transaction } from '../session.ts';

/** Each job is a queued or held slice. Jobs are grouped by account. */
export type SliceQueue = PgBoss;

export const queueName = 'slices';
const queueSchema = 'volley_queue';

/** A lease expires after this time without renewal; the minimum of pg-boss. */
export const leaseSeconds = 10;

const bossOptions = {
  schema: queueSchema,
  supervise: false,
  schedule: false,
  monitorVacuum: false,
  useListenNotify: false,
};

/** The maximum of pg-boss: then a job fails even if its lease is renewed. */
const expireInSeconds = 24 * 60 * 60;

/** A worker returns a slice before that. */
export const maxHoldMilliseconds = (expireInSeconds / 2) * 1_000;

/** Jobs are kept and retried until their run is over. */
const queueOptions = {
  heartbeatSeconds: leaseSeconds,
  expireInSeconds,
  retryLimit: 1_000_000,
  retentionSeconds: 10 * 365 * 24 * 60 * 60,
  deleteAfterSeconds: 60 * 60,
};

export async function installQueue(knex: Knex): Promise<void> {
  const { fromKnex, PgBoss } = await import('pg-boss');
  const queue = new PgBoss({ ...bossOptions, db: fromKnex(knex) });
  queue.on('error', () => undefined);
  await queue.start();
  await queue.createQueue(queueName, queueOptions);
  await queue.stop({ graceful: false, close: false });
}

export async function removeQueue(knex: Knex): Promise<void> {
  await knex.raw(`DROP SCHEMA IF EXISTS ${queueSchema} CASCADE`);
}

/** A newer pg-boss migrates its tables here. */
export async function openQueue(pool: pg.Pool): Promise<SliceQueue> {
  // Loaded only by processes that send or plan.
  const { PgBoss } = await import('pg-boss');
  const queue = new PgBoss({
    ...bossOptions,
    // The fleet looks for expired leases this often.
    monitorIntervalSeconds: 2,
    db: queueDb(pool),
  });
  // A failure in its timers occurs again in an acquisition, which handles it.
  queue.on('error', () => undefined);
  await queue.start();
  return queue;
}

const acquisitionLockKey = "hashtextextended('volley slices', 0)";

/**
 * Blocks acquisitions and reclaims until the transaction ends. pg-boss counts active jobs without a lock, and
 * transactions that lock job and slice in opposite orders could deadlock.
 */
export async function lockAcquisitions(client: Transaction): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${acquisitionLockKey})`);
}

/**
 * Blocks acquisitions only during `work`, at the start of a long transaction: jobs that it deletes cannot be acquired
 * later. Must precede the lock of the run, which acquisitions take last.
 */
export async function withAcquisitionsLocked<Result>(
  client: Transaction,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query(`SELECT pg_advisory_lock(${acquisitionLockKey})`);
  // A failure ends the session, and with it the lock.
  const result = await work();
  await client.query(`SELECT pg_advisory_unlock(${acquisitionLockKey})`);
  return result;
}

/** Lets pg-boss use our transaction, so that a job changes with its slice. */
export function queueDb(client: Connection): Db {
  return {
    executeSql: async (text, values) => {
      const result: pg.QueryResult | pg.QueryResult[] = await client.query(text, values);
      return Array.isArray(result) ? { rows: result.flatMap(({ rows }) => rows) } : result;
    },
  };
}

export type QueueVersions = {
  /** Of the tables; null: there are none. */
  readonly installed: number | null;
  /** Of this version's pg-boss. */
  readonly needed: number;
};

const packageSchema = z.object({ pgboss: z.object({ schema: z.number() }) });

export async function readQueueVersions(pool: pg.Pool): Promise<QueueVersions> {
  const { pgboss } = packageSchema.parse(createRequire(import.meta.url)('pg-boss/package.json'));
  const { rows: tables } = await pool.query(
    `SELECT FROM pg_tables WHERE schemaname = '${queueSchema}' AND tablename = 'version'`,
  );
  if (tables.length === 0) return { installed: null, needed: pgboss.schema };
  const { rows } = await pool.query<{ version: number }>(`SELECT version FROM ${queueSchema}.version`);
  return { installed: rows[0]?.version ?? null, needed: pgboss.schema };
}
