import type pg from 'pg';

export type RerunLock = {
  /** Never rejects. */
  release(): Promise<void>;
};

const lockKey = "hashtextextended('volley rerun ' || $1, 0)";

/**
 * Locks the run, so that only one process can plan a rerun of it.
 *
 * @returns undefined if another process does, or the run is being sent
 */
export async function lockRunForRerun(pool: pg.Pool, run: string): Promise<RerunLock | undefined> {
  const client = await pool.connect();
  // An error event without a listener would end the process; the query fails anyway.
  client.on('error', () => undefined);
  const { rows } = await client.query<{ locked: boolean }>(
    `
    SELECT pg_try_advisory_lock(${lockKey}) AS locked
    WHERE NOT EXISTS (SELECT FROM slices WHERE run_id = $1 AND state IN ('queued', 'held'))
    `,
    [run],
  );
  if (!rows[0]?.locked) {
    client.release(true);
    return undefined;
  }
  return {
    async release() {
      // Ending the session frees its locks too, but a moment later.
      await client.query(`SELECT pg_advisory_unlock(${lockKey})`, [run]).catch(() => undefined);
      client.release(true);
    },
  };
}
