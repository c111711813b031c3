import type pg from 'pg';

export type DispatchLock = {
  /** Aborted when the database session that holds the lock is lost: from then on another process may dispatch. */
  readonly lost: AbortSignal;
  /** When this resolves, another process may dispatch. Never rejects. */
  release(): Promise<void>;
};

/** `$1` is the run. */
const lockKey = "hashtextextended('volley dispatch ' || $1, 0)";

/**
 * Makes this process the only one that dispatches a run. The lock belongs to a database session, so it goes with the
 * process however the process ends.
 *
 * @returns undefined when another process holds it
 */
export async function lockRunForDispatch(pool: pg.Pool, run: string): Promise<DispatchLock | undefined> {
  const client = await pool.connect();
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_lock(${lockKey}) AS locked`,
    [run],
  );
  if (!rows[0]?.locked) {
    client.release();
    return undefined;
  }
  const lost = new AbortController();
  client.on('error', () => lost.abort());
  return {
    lost: lost.signal,
    async release() {
      // The end of a session gives its locks up too, but a moment after it was closed from this side.
      if (!lost.signal.aborted) {
        await client.query(`SELECT pg_advisory_unlock(${lockKey})`, [run]).catch(() => undefined);
      }
      client.release(true);
    },
  };
}
