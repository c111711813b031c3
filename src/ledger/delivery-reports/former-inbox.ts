import type pg from 'pg';
import { inTransaction } from '../session.ts';
import { storeWithIds } from './fold-inbox.ts';

/*
 * Volley 0.3.0 writes a row of `inbox` for each call, and goes on with that while processes are upgraded one by one. Its
 * calls are read where they are, and moved into blocks. A later version can drop `inbox`, `inbox_queue` and this file.
 */

/** Calls from before there were blocks have ids below. */
const firstReportOfBlocks = 2 ** 36;

/** Entries in a transaction. */
const maxEntries = 1_000;

/** Moves what waits in the queue of 0.3.0 into that of the blocks, except what an applier of 0.3.0 has locked. */
export async function takeFormerQueue(pool: pg.Pool): Promise<void> {
  for (let moved = maxEntries; moved === maxEntries; ) {
    const { rowCount } = await pool.query(takeEntries);
    moved = rowCount ?? 0;
  }
}

const takeEntries = `
  WITH taken AS (
    DELETE FROM inbox_queue
    WHERE entry IN (SELECT entry FROM inbox_queue ORDER BY due_at, entry LIMIT ${maxEntries} FOR UPDATE SKIP LOCKED)
    RETURNING *
  )
  INSERT INTO inbox_waiting (due_at, first_report, last_report, report_ids, calls, bytes, attempts, reread)
  SELECT due_at, report_ids[1], report_ids[cardinality(report_ids)], report_ids, cardinality(report_ids), bytes, attempts,
         reread
  FROM taken
  ORDER BY entry
`;

/** Calls in a transaction. */
const batch = 5_000;

/**
 * Moves calls into blocks, in order, with their ids. It does nothing while an applier of 0.3.0 may still want them.
 *
 * @returns whether there are more
 */
export async function moveFormerCalls(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('volley inbox blocks', 0))`);
    const { rows } = await client.query<{ moved: number }>(moveCalls, [firstReportOfBlocks]);
    return rows[0]?.moved === batch;
  });
}

const moveCalls = `
  WITH moved AS (
    DELETE FROM inbox
    WHERE report_id = ANY (ARRAY(
      SELECT report_id
      FROM inbox
      WHERE NOT EXISTS (SELECT FROM inbox_queue)
      ORDER BY report_id
      LIMIT ${batch}
    ))
    RETURNING *
  ), sized AS (
    SELECT *, row_number() OVER in_order AS place, sum(octet_length(body)) OVER in_order AS bytes_so_far
    FROM moved
    WINDOW in_order AS (ORDER BY report_id ROWS UNBOUNDED PRECEDING)
  ), grouped AS (
    SELECT *,
           min(report_id) OVER (
             PARTITION BY div(bytes_so_far, 1048576), div(place - 1, 256),
                          -- Between these there are ids of other blocks.
                          CASE WHEN report_id >= $1 THEN report_id END
           ) AS into_report
    FROM sized
  ), stored AS (${storeWithIds('grouped')}
  )
  SELECT CAST(count(*) AS integer) AS moved FROM moved
`;
