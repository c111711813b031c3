import type pg from 'pg';

export type DispatchLock = {
  /** Aborted when the database session that holds the lock is lost: from then on another process may dispatch. */
  readonly lost: AbortSignal;
  release(): void;
};

/**
 * Makes this process the only one that dispatches a run. The lock belongs to a database session, so it goes with the
 * process however the process ends.
 *
 * @returns undefined when another process holds it
 */
export async function lockRunForDispatch(pool: pg.Pool, run: string): Promise<DispatchLock | undefined> {
  const client = await pool.connect();
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_lock(hashtextextended('volley dispatch ' || $1, 0)) AS locked`,
    [run],
  );
  if (!rows[0]?.locked) {
    client.release();
    return undefined;
  }
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  // The session is closed rather than returned to the pool: that is what gives the lock up.
  return { lost: lost.signal, release: () => client.release(true) };
}
