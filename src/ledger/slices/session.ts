import type pg from 'pg';
import { isCalm } from './calm.ts';
import { wakeChannel } from './enqueue.ts';
import { workerLockKey } from './reap.ts';

/** A worker's own database session: while it stands, others know that the worker lives. */
export type WorkerSession = {
  /** Resolves when the session is lost. */
  readonly lost: Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
};

/**
 * Opens a session that holds the worker's lock, and hears what is told to all workers. It goes with the process however
 * that ends.
 */
export async function openWorkerSession(
  pool: pg.Pool,
  worker: string,
  onWake: () => void,
): Promise<WorkerSession> {
  const client = await pool.connect();
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  client.on('notification', onWake);
  try {
    await client.query(`SELECT pg_advisory_lock(${workerLockKey('$1')})`, [worker]);
    await client.query(`LISTEN ${wakeChannel}`);
    await isCalm(client);
  } catch (error) {
    client.release(true);
    throw error;
  }
  return {
    lost,
    async close() {
      // The end of a session gives its lock up too, but a moment after it was closed from this side.
      await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
      client.release(true);
    },
  };
}
