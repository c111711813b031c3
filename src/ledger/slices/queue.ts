import type { Knex } from 'knex';
import type pg from 'pg';
import type { Db, PgBoss } from 'pg-boss';
import type { Connection, Transaction } from '../session.ts';

/** The one queue of the fleet: a job is a slice that waits for a worker, or that one holds. Jobs are grouped by account. */
export type SliceQueue = PgBoss;

export const queueName = 'slices';
const schema = 'volley_queue';

/** A lease that was not renewed for so long has expired (seconds; pg-boss allows no less). */
export const leaseSeconds = 10;

const bossOptions = {
  schema,
  supervise: false,
  schedule: false,
  monitorVacuum: false,
  useListenNotify: false,
};

/** pg-boss takes a job for failed after so long, however often its lease is renewed, and allows no more. */
const expireInSeconds = 24 * 60 * 60;

/** So a worker gives a slice up before that (milliseconds), and takes it or another one anew. */
export const maxHoldMilliseconds = (expireInSeconds / 2) * 1_000;

/** Everything in the queue may wait as long as its run does, and is tried again until its run is over. */
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
  await knex.raw(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
}

/** Opens the queue on the ledger's own connections. A newer pg-boss brings its tables up to date here. */
export async function openQueue(pool: pg.Pool): Promise<SliceQueue> {
  // Loaded only where something is sent or planned.
  const { PgBoss } = await import('pg-boss');
  const queue = new PgBoss({
    ...bossOptions,
    // How often expired leases are looked for, over the whole fleet (seconds).
    monitorIntervalSeconds: 2,
    db: queueDb(pool),
  });
  // What goes wrong in its own timers goes wrong again where a slice is asked for, and is met there.
  queue.on('error', () => undefined);
  await queue.start();
  return queue;
}

const acquisitionLockKey = "hashtextextended('volley slices', 0)";

/**
 * Until the transaction ends, only it takes slices, from the queue or from dead workers. pg-boss counts a group's active jobs
 * without a lock; and who takes a job first and its slice then would meet those who go the other way.
 */
export async function lockAcquisitions(client: Transaction): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${acquisitionLockKey})`);
}

/**
 * Keeps everybody from taking slices during the work, which may be a part of a transaction that then goes on for long: a
 * job that is deleted in it is not taken any more. To be begun before the run is locked, as taking locks it last.
 */
export async function withAcquisitionsLocked<Result>(
  client: Transaction,
  work: () => Promise<Result>,
): Promise<Result> {
  await client.query(`SELECT pg_advisory_lock(${acquisitionLockKey})`);
  // Where the work fails, the session ends.
  const result = await work();
  await client.query(`SELECT pg_advisory_unlock(${acquisitionLockKey})`);
  return result;
}

/** Lets the queue work on a connection of ours, so that a job changes in the transaction of what it stands for. */
export function queueDb(client: Connection): Db {
  return {
    executeSql: async (text, values) => {
      const result: pg.QueryResult | pg.QueryResult[] = await client.query(text, values);
      return Array.isArray(result) ? { rows: result.flatMap(({ rows }) => rows) } : result;
    },
  };
}
