import type pg from 'pg';
import { inTransaction } from '../session.ts';

/** SQL: adds blocks of calls that keep their ids. @param calls rows of `into_report` (the block) and of `calls_in` */
export const storeWithIds = (calls: string): string => `
    INSERT INTO inbox_blocks (first_report, offsets, calls, bytes, first_received_at, last_received_at, accounts,
                              received_at, methods, content_types, headers, bodies)
    SELECT into_report, array_agg(report_id - into_report ORDER BY report_id), count(*), sum(octet_length(body)),
           min(received_at), max(received_at), array_agg(account ORDER BY report_id),
           array_agg(received_at ORDER BY report_id), array_agg(method ORDER BY report_id),
           array_agg(content_type ORDER BY report_id), array_agg(headers ORDER BY report_id),
           array_agg(body ORDER BY report_id)
    FROM ${calls}
    GROUP BY into_report`;

/** A block with so many calls is not folded. */
const largeBlock = 64;

/** Calls of a fold, without those of its last block: a block has 256 at most. */
const maxFoldedCalls = 192;

/** Bytes of the bodies of a fold, without its last block. */
const maxFoldedBytes = 1024 * 1024;

/** Every block up to `last` is committed or rolled back once all transactions before `transaction` have ended. */
export type FoldFence = { readonly last: string; readonly transaction: string };

export async function readFoldFence(pool: pg.Pool): Promise<FoldFence> {
  // A transaction takes its own number before that of a block, so the last block is read first.
  const { rows: blocks } = await pool.query<{ last: string }>(
    'SELECT CAST(last_value AS text) AS last FROM report_ids',
  );
  const { rows: transactions } = await pool.query<{ transaction: string }>(
    'SELECT CAST(pg_current_xact_id() AS text) AS transaction',
  );
  return { last: blocks[0]?.last ?? '0', transaction: transactions[0]?.transaction ?? '0' };
}

/**
 * Replaces neighbouring blocks of the last hour with few calls by one with many, in which a call takes a seventh of the
 * bytes. Ids do not change. The last ten minutes are left alone, because pages that follow arrivals read them.
 *
 * @returns how many blocks there are less
 */
export async function foldInboxBlocks(
  pool: pg.Pool,
  now: Date,
  { last, transaction }: FoldFence,
): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { rows: locks } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(hashtextextended('volley inbox blocks', 0)) AS locked`,
    );
    if (!locks[0]?.locked) return 0;
    const { rows } = await client.query<{ folded: number }>(fold, [now, last, transaction]);
    return rows[0]?.folded ?? 0;
  });
}

const fold = `
  WITH range AS MATERIALIZED (
    SELECT min(first_report) AS first, max(first_report) AS last
    FROM inbox_blocks
    WHERE last_received_at BETWEEN $1::timestamptz - interval '1 hour' AND $1 - interval '10 minutes'
      AND first_report <= $2 AND pg_snapshot_xmin(pg_current_snapshot()) >= CAST($3::text AS xid8)
      -- Calls of Volley 0.3.0 may get blocks in between.
      AND NOT EXISTS (SELECT FROM inbox)
  ), near AS (
    SELECT b.first_report, b.calls, b.bytes, b.last_received_at, b.first_report >> 36 AS partition,
           count(*) FILTER (WHERE b.calls >= ${largeBlock}) OVER (ORDER BY b.first_report) AS larger_before
    FROM range r
    -- A folded block must enclose no other.
    JOIN inbox_blocks b ON b.first_report BETWEEN r.first AND r.last
  ), sized AS (
    SELECT *, sum(calls) OVER in_order AS calls_so_far, sum(bytes) OVER in_order AS bytes_so_far
    FROM near
    WHERE calls < ${largeBlock}
    WINDOW in_order AS (PARTITION BY partition, larger_before ORDER BY first_report)
  ), grouped AS (
    SELECT first_report, calls, last_received_at,
           min(first_report) OVER (
             PARTITION BY partition, larger_before, div(calls_so_far - 1, ${maxFoldedCalls}), div(bytes_so_far, ${maxFoldedBytes})
           ) AS into_report
    FROM sized
  ), due AS MATERIALIZED (
    SELECT into_report
    FROM grouped
    GROUP BY into_report
    -- A group that is not full yet waits until it leaves the hour.
    HAVING count(*) > 1
       AND (sum(calls) > ${maxFoldedCalls / 2} OR min(last_received_at) < $1 - interval '50 minutes')
  ), removed AS (
    DELETE FROM inbox_blocks b
    USING grouped g
    JOIN due USING (into_report)
    WHERE b.first_report = g.first_report
    RETURNING g.into_report, b AS block
  ), stored AS (${storeWithIds('(SELECT into_report, c.* FROM removed CROSS JOIN LATERAL calls_in(block) c) r')}
  )
  SELECT CAST((SELECT count(*) FROM removed) - (SELECT count(*) FROM due) AS integer) AS folded
`;
