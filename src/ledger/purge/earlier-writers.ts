import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/**
 * Waits for the end of all transactions that write and may not see what was committed before the call.
 *
 * @param longestWait milliseconds
 * @returns those that took longer
 */
export async function waitForEarlierWriters(pool: pg.Pool, longestWait = 60_000): Promise<readonly Writer[]> {
  const { rows } = await pool.query<{ last: string }>(
    'SELECT CAST(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS last',
  );
  const { last } = rows[0] ?? {};
  for (let waited = 0; ; waited += waitForWriters) {
    const { rows: writers } = await pool.query<Writer>(earlierWriters, [last]);
    if (writers.length === 0 || waited >= longestWait) return writers;
    await sleep(waitForWriters);
  }
}

/** Milliseconds. */
const waitForWriters = 100;

/** A session of Postgres that writes; of one that Postgres does not show, only nulls. */
export type Writer = {
  readonly pid: number | null;
  readonly name: string | null;
  readonly since: Date | null;
};

/** No row: all transactions before $1 have ended. */
const earlierWriters = `
  SELECT pid, application_name AS name, xact_start AS since
  FROM (SELECT WHERE pg_snapshot_xmin(pg_current_snapshot()) < CAST($1 AS xid8)) AS unfinished
  LEFT JOIN pg_stat_activity ON backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  ORDER BY xact_start
`;
