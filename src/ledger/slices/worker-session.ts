import type pg from 'pg';
import type { Connection } from '../session.ts';
import { wakeChannel } from './enqueue.ts';

/** A worker's own database session: while it stands, others know that the worker lives. */
export type WorkerSession = {
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
 * @param isReplacement it is opened for one that was lost
 */
export async function openWorkerSession(
  pool: pg.Pool,
  worker: string,
  onWake: () => void,
  isReplacement = false,
): Promise<WorkerSession> {
  const client = await pool.connect();
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  client.on('notification', onWake);
  try {
    // Before the lock: a worker that holds it may take others for dead.
    await isGraceOver(client);
    if (isReplacement) await extendGrace(client);
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

/*
 * A free lock and an expired lease show a dead worker, but not after all sessions have ended at once: Postgres was started, one
 * of its sessions crashed and took all others along, or the network was away. Workers then come back one after the other
 * and renew their leases; each tries every two seconds. Until the grace is over no worker is taken for dead, by either sign.
 */

const grace = "interval '5 seconds'";

/** Whether workers can be taken for dead. Asks the server whether it was started since, and begins the grace where it was. */
export async function isGraceOver(client: Connection): Promise<boolean> {
  const { rows } = await client.query<{ over: boolean }>(`
    SELECT ends_at <= clock_timestamp() AS over
    FROM startup_grace
    -- One that would last longer is from before the clock was set back.
    WHERE server_started_at = pg_postmaster_start_time() AND ends_at <= clock_timestamp() + ${grace}
  `);
  return rows[0]?.over ?? (await beginGrace(client));
}

/** With no slice held, there is no worker to wait for. */
async function beginGrace(client: Connection): Promise<boolean> {
  const { rows } = await client.query<{ over: boolean }>(`
    INSERT INTO startup_grace (server_started_at, ends_at)
    SELECT pg_postmaster_start_time(),
           CASE WHEN EXISTS (SELECT FROM slices WHERE state = 'held') THEN clock_timestamp() + ${grace} ELSE '-infinity' END
    ON CONFLICT (singleton) DO UPDATE SET server_started_at = excluded.server_started_at, ends_at = excluded.ends_at
    RETURNING ends_at <= clock_timestamp() AS over
  `);
  return rows[0]?.over ?? false;
}

/**
 * Begins the grace for a worker that lost its session: others may have lost theirs by the same event. One that runs is not
 * made longer, so that a worker whose session breaks again and again does not keep the dead from being noticed.
 */
export async function extendGrace(client: Connection): Promise<void> {
  await client.query(
    `UPDATE startup_grace SET ends_at = clock_timestamp() + ${grace} WHERE ends_at <= clock_timestamp()`,
  );
}
