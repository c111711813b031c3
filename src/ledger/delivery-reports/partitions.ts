import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { hasCode } from '../../platform/file-error.ts';

/** Makes the next partition of the inbox, and begins it in a new week (UTC). */
export async function tendPartitions(pool: pg.Pool, now: Date): Promise<void> {
  await pool.query('SELECT tend_inbox_partitions($1)', [now]);
}

/** Whether a partition is there for the calls of next week. */
export async function hasNextPartition(pool: pg.Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM inbox_partitions WHERE first_report > (SELECT last_value FROM report_ids)',
  );
  return rowCount !== 0;
}

/** A partition of the inbox whose calls all arrived before a time. */
export type OldPartition = {
  readonly name: string;
  readonly calls: number;
  /** Why it stays. `waiting`: calls of it wait to be applied or matched. `in_use`: another session reads the inbox. */
  readonly held: 'waiting' | 'in_use' | null;
};

/** Lists the partitions that retention drops, the oldest first. */
export async function listOldPartitions(pool: pg.Pool, before: Date): Promise<OldPartition[]> {
  const { rows } = await pool.query<OldPartition>(
    `
    SELECT p.name, CAST(coalesce(sum(b.calls), 0) AS float8) AS calls,
           CASE WHEN EXISTS (
                  SELECT FROM inbox_waiting w WHERE w.first_report <= p.last_report AND w.last_report >= p.first_report
                ) OR EXISTS (SELECT FROM inbox) THEN 'waiting' END AS held
    FROM inbox_partitions p
    LEFT JOIN inbox_blocks b ON b.first_report BETWEEN p.first_report AND p.last_report
    WHERE p.is_over
    GROUP BY p.name, p.first_report, p.last_report
    HAVING coalesce(max(b.last_received_at) < $1, true)
    ORDER BY p.first_report
    `,
    [before],
  );
  return rows;
}

/**
 * Drops the partitions whose calls all arrived before that time. It locks the inbox for a moment, and gives up where
 * another session reads it for long.
 *
 * @returns those that it dropped, and those that stay (`held`)
 */
export async function dropOldPartitions(pool: pg.Pool, before: Date, maxTries = 20): Promise<OldPartition[]> {
  const partitions: OldPartition[] = [];
  for (const partition of await listOldPartitions(pool, before)) {
    partitions.push({ ...partition, held: await dropPartition(pool, partition.name, before, maxTries) });
  }
  return partitions;
}

/** Milliseconds. */
const waitBetweenTries = 500;

/** Postgres could not lock the table in time. */
const lockNotAvailable = '55P03';

async function dropPartition(
  pool: pg.Pool,
  name: string,
  before: Date,
  maxTries: number,
): Promise<OldPartition['held']> {
  for (let tries = 1; ; tries++) {
    try {
      const { rows } = await pool.query<{ dropped: boolean }>(
        'SELECT drop_inbox_partition($1, $2) AS dropped',
        [name, before],
      );
      return rows[0]?.dropped ? null : 'waiting';
    } catch (error) {
      if (!hasCode(error, lockNotAvailable)) throw error;
      if (tries === maxTries) return 'in_use';
      await sleep(waitBetweenTries);
    }
  }
}
