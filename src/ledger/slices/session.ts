import type pg from 'pg';
import { wakeChannel } from './enqueue.ts';
import { beginGraceAgain, isGraceOver } from './startup-grace.ts';

/** A worker's own database session: while it stands, others know that the worker lives. */
export type WorkerSession = {
  /** Resolves when the session is lost. */
  readonly lost: Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
};

/** Held by a worker's session for as long as it lives. `worker` is SQL. */
export const workerLockKey = (worker: string): string =>
  `hashtextextended('volley worker ' || CAST(${worker} AS text), 0)`;

/**
 * Opens a session that holds the worker's lock, and hears what is told to all workers. It goes with the process however
 * that ends.
 *
 * @param isAgain it is opened for one that was lost
 */
export async function openWorkerSession(
  pool: pg.Pool,
  worker: string,
  onWake: () => void,
  isAgain = false,
): Promise<WorkerSession> {
  const client = await pool.connect();
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  client.on('notification', onWake);
  try {
    // Before the lock: a worker that holds it may take others for dead.
    await isGraceOver(client);
    if (isAgain) await beginGraceAgain(client);
    await client.query(`SELECT pg_advisory_lock(${workerLockKey('$1')})`, [worker]);
    await client.query(`LISTEN ${wakeChannel}`);
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
