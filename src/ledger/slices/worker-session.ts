import { hostname } from 'node:os';
import type pg from 'pg';
import type { Connection } from '../session.ts';
import { wakeChannel } from './enqueue.ts';

/** While this database session lasts, the worker counts as running. */
export type WorkerSession = Awaited<ReturnType<typeof openWorkerSession>>;

/** Begins the `application_name` of the session, by which monitoring counts workers. Its machine and process follow. */
const sessionName = 'volley worker ';

/** SQL: whether a row of `pg_stat_activity` is the session of a worker. */
export const isWorkerSession = `application_name LIKE '${sessionName}%'`;

/** SQL: the machine and process of a worker, such as `desk/4711`. */
export const workerProcess = `substr(application_name, ${sessionName.length + 1})`;

/** Postgres keeps 63 bytes of a name. */
const maxHostName = 40;

function applicationName(): string {
  return `${sessionName}${hostname().slice(0, maxHostName)}/${process.pid}`;
}

/** SQL: key of the lock that the session holds. */
export const workerLockKey = (worker: string): string =>
  `hashtextextended('volley worker ' || CAST(${worker} AS text), 0)`;

/**
 * Takes the lock of the worker and listens for wakeups. Ends with the process.
 *
 * @param isReplacement a former session was lost
 */
export async function openWorkerSession(
  pool: pg.Pool,
  worker: string,
  onWake: () => void,
  isReplacement = false,
) {
  const client = await pool.connect();
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  client.on('error', () => resolve());
  client.on('end', () => resolve());
  client.on('notification', onWake);
  try {
    // Before the lock, because a worker that holds it can reclaim.
    await isGraceOver(client);
    if (isReplacement) await restartGrace(client);
    await client.query(`SELECT pg_advisory_lock(${workerLockKey('$1')})`, [worker]);
    await client.query(`SELECT set_config('application_name', $1, false)`, [applicationName()]);
    await client.query(`LISTEN ${wakeChannel}`);
  } catch (error) {
    client.release(true);
    throw error;
  }
  return {
    lost,
    /** Never rejects. */
    async close(): Promise<void> {
      // Ending the session frees the lock too, but a moment later.
      await client.query('SELECT pg_advisory_unlock_all()').catch(() => undefined);
      client.release(true);
    },
  };
}

/*
 * A free lock or expired lease shows that a worker ended, unless all sessions ended at once: Postgres restarted, one
 * of its sessions crashed, or the network failed. Workers then reconnect one by one, trying every two seconds, and
 * renew their leases. Nothing is reclaimed before the startup grace ends.
 */

const grace = "interval '5 seconds'";

/** Also begins the grace after a start of the server. */
export async function isGraceOver(client: Connection): Promise<boolean> {
  const { rows } = await client.query<{ over: boolean }>(`
    SELECT ends_at <= clock_timestamp() AS over
    FROM startup_grace
    -- Otherwise the clock was set back.
    WHERE server_started_at = pg_postmaster_start_time() AND ends_at <= clock_timestamp() + ${grace}
  `);
  return rows[0]?.over ?? (await beginGrace(client));
}

/** Without held slices, no worker needs the grace. */
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
 * Begins the grace for a worker that lost its session, as others may have. A running grace is not prolonged: a
 * session that fails again and again must not prevent reclaims.
 */
async function restartGrace(client: Connection): Promise<void> {
  await client.query(
    `UPDATE startup_grace SET ends_at = clock_timestamp() + ${grace} WHERE ends_at <= clock_timestamp()`,
  );
}
