import type pg from 'pg';
import { batchOf } from '../batch.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { rangeOfBlock } from './blocks.ts';
import { figureColumns, keyColumns, pendingClauses } from './pending.ts';

/** Any number: entries are booked, and periods closed, by one at a time. */
const billingLock = 4_190_733_815;

/** Blocks and changes that are booked in one transaction. */
const mostBlocks = 32;
const mostChanges = 50_000;

/** SQL: what is booked before this would change a period that is closed. */
export const closedBefore = `coalesce((SELECT max(ends_at) FROM billing_closings), '-infinity')`;

/** SQL: whether a request of the block may still be settled. */
const isUnsettled = `EXISTS (
  SELECT FROM requests_between(b.run_id, ${rangeOfBlock('b')}) q WHERE q.state IN ('planned', 'sending')
)`;

/**
 * Books a part of what is not in the entries yet; nothing while another one does. Whoever stops in the middle of it has
 * done nothing.
 *
 * @returns whether there may be more of what was there when it began; false while another one books
 */
export async function bookPending(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${billingLock}) AS locked`,
    );
    if (!rows[0]?.locked) return false;
    const booked = await book(client, { unsettledToo: false, most: mostBlocks, changes: mostChanges });
    return booked.blocks >= mostBlocks || booked.changes >= mostChanges;
  });
}

/** As `bookPending`, all of it, also of requests that are not settled yet; waits for others who book. */
export async function bookEverything(client: Transaction): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${billingLock})`);
  await book(client, { unsettledToo: true, most: null, changes: null });
}

type Booking = {
  readonly unsettledToo: boolean;
  /** Blocks and changes at most; null for all. */
  readonly most: number | null;
  readonly changes: number | null;
};

type BlockKey = { readonly run_id: string; readonly block: number };

const blockKeys = batchOf<BlockKey>({
  run_id: ['text', ({ run_id }) => run_id],
  block: ['integer', ({ block }) => block],
});

/**
 * Nobody waits for who books, nor the other way round. Whether a block is settled is looked at in the statement that books
 * it. Who changes a settled request notes it in the same transaction: what that statement does not see is noted for the
 * next booking.
 */
async function book(
  client: Transaction,
  { unsettledToo, most, changes }: Booking,
): Promise<{ readonly blocks: number; readonly changes: number }> {
  await client.query("SET LOCAL work_mem = '64MB'; SET LOCAL jit = off");
  await client.query(`
    WITH noted AS (
      DELETE FROM billing_openings RETURNING run_id, block
    )
    INSERT INTO billing_blocks (run_id, block, open)
    SELECT DISTINCT run_id, block, true
    FROM noted
    JOIN runs USING (run_id)
    ON CONFLICT (run_id, block) DO UPDATE SET open = true
  `);
  const { rows: blocks } = await client.query<BlockKey>(
    `
    SELECT b.run_id, b.block
    FROM billing_blocks b
    JOIN runs r USING (run_id)
    WHERE b.open AND r.state <> 'planned' AND ($1 OR NOT ${isUnsettled})
    ORDER BY b.run_id, b.block
    LIMIT $2
    `,
    [unsettledToo, most],
  );
  const { rows } = await client.query<{ changes: number }>(
    `
    WITH block AS MATERIALIZED (
      SELECT * FROM ${blockKeys.table('block', 2)}
    ), change AS (
      DELETE FROM billing_changes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM billing_changes LIMIT $1))
      RETURNING *
    ), ${pendingClauses}, booked AS (
      INSERT INTO billing_entries AS n (${keyColumns.join(', ')}, booked, ${figureColumns.join(', ')})
      SELECT ${keyColumns.join(', ')}, greatest(sent, ${closedBefore}), ${figureColumns.join(', ')}
      FROM pending
      ORDER BY ${keyColumns.join(', ')}
      ON CONFLICT (${keyColumns.join(', ')}, booked) DO UPDATE
      SET ${figureColumns.map((column) => `${column} = n.${column} + excluded.${column}`).join(', ')}
    ), shut AS (
      UPDATE billing_blocks b
      SET open = ${isUnsettled}
      FROM block
      WHERE b.run_id = block.run_id AND b.block = block.block
    )
    SELECT count(*)::integer AS changes FROM change
    `,
    [changes, ...blockKeys.values(blocks)],
  );
  return { blocks: blocks.length, changes: rows[0]?.changes ?? 0 };
}
