import type pg from 'pg';

export type RerunLock = {
  /** Never rejects. */
  release(): Promise<void>;
};

const lockKey = "hashtextextended('volley rerun ' || $1, 0)";

/**
 * Makes this process the only one that plans another run of this one's recipients.
 *
 * @returns undefined when another process does, or a worker is sending the run
 */
export async function lockRunForRerun(pool: pg.Pool, run: string): Promise<RerunLock | undefined> {
  const client = await pool.connect();
  // A broken connection fails the query under way; as an event that nobody hears it would end the process.
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
      // The end of a session gives its locks up too, but a moment after it was closed from this side.
      await client.query(`SELECT pg_advisory_unlock(${lockKey})`, [run]).catch(() => undefined);
      client.release(true);
    },
  };
}
