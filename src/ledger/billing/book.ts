import type pg from 'pg';
import { batchOf } from '../batch.ts';
import { foldRunCounts } from '../counts/fold.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { hasUnknownSendTime, pendingChanges, sliceOf } from './changes.ts';
import { figureColumns, keyColumns, pendingClauses } from './pending-sums.ts';

/** An arbitrary lock number for booking and for closing a period. */
const billingLock = 4_190_733_815;

type BookingLimits = { readonly slices: number; readonly changes: number; readonly outcomes: number };

/** One row of billing_outcomes has the sums of one batch of delivery reports, so its limit is smaller. */
const bookingLimits: BookingLimits = { slices: 128, changes: 50_000, outcomes: 500 };

/** SQL: the end of the last closed period. */
export const closedUntil = `coalesce((SELECT max(ends_at) FROM billing_closings), '-infinity')`;

/**
 * Books part of the pending changes in one transaction; nothing while another process books.
 *
 * @returns whether to book again; false if another process is booking
 */
export async function bookPending(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${billingLock}) AS locked`,
    );
    if (!rows[0]?.locked) return false;
    return book(client, bookingLimits);
  });
}

/** Books all pending changes, of unsettled requests too, except those with an unknown send time. Waits for other bookings. */
export async function bookEverything(client: Transaction): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${billingLock})`);
  await book(client, null);
}

type SliceKey = { readonly run_id: string; readonly slice: number };

const sliceKeys = batchOf<SliceKey>({
  run_id: ['text', ({ run_id }) => run_id],
  slice: ['integer', ({ slice }) => slice],
});

/**
 * Booking never blocks transactions that change requests, or the reverse: the booking statement checks which slices are done, and
 * changes of settled requests are recorded by their own transactions. Those that it misses remain for the next
 * booking.
 *
 * @param limits null: everything, including unsettled requests ($1 of the statements)
 * @returns whether more may be pending
 */
async function book(client: Transaction, limits: BookingLimits | null): Promise<boolean> {
  await client.query("SET LOCAL work_mem = '64MB'; SET LOCAL jit = off");
  await client.query(`
    WITH reopened AS (
      DELETE FROM billing_reopened_requests RETURNING run_id, request
    )
    INSERT INTO billing_slices (run_id, slice, open)
    SELECT DISTINCT n.run_id, s.slice, true
    FROM reopened n
    CROSS JOIN ${sliceOf('n')} s
    ON CONFLICT (run_id, slice) DO UPDATE SET open = true
  `);
  const { rows: slices } = await client.query<SliceKey>(
    `
    SELECT b.run_id, b.slice
    FROM billing_slices b
    JOIN runs r USING (run_id)
    JOIN slices s USING (run_id, slice)
    WHERE b.open AND r.state <> 'planned' AND ($1 OR s.state = 'done')
    ORDER BY b.run_id, b.slice
    LIMIT $2
    `,
    [limits === null, limits?.slices ?? null],
  );
  const { rows } = await client.query<{ changes: number; outcomes: number; runs: readonly string[] }>(
    `
    WITH open_slice AS MATERIALIZED (
      SELECT * FROM ${sliceKeys.table('open_slice', 3)}
    ), booked_changes AS (
      DELETE FROM billing_changes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM billing_changes c WHERE NOT ${hasUnknownSendTime('c')} LIMIT $1))
      RETURNING *
    ), booked_outcomes AS (
      DELETE FROM billing_outcomes
      WHERE ctid = ANY (ARRAY(SELECT ctid FROM billing_outcomes LIMIT $2))
      RETURNING *
    ), change AS (
      ${pendingChanges('booked_changes', 'booked_outcomes')}
    ), ${pendingClauses}, booked AS (
      INSERT INTO billing_entries AS n (${keyColumns.join(', ')}, booked, ${figureColumns.join(', ')})
      SELECT ${keyColumns.join(', ')}, greatest(sent, ${closedUntil}), ${figureColumns.join(', ')}
      FROM pending
      ORDER BY ${keyColumns.join(', ')}
      ON CONFLICT (${keyColumns.join(', ')}, booked) DO UPDATE
      SET ${figureColumns.map((column) => `${column} = n.${column} + excluded.${column}`).join(', ')}
    ), closed AS (
      UPDATE billing_slices b
      SET open = s.state <> 'done'
      FROM open_slice
      JOIN slices s USING (run_id, slice)
      WHERE b.run_id = open_slice.run_id AND b.slice = open_slice.slice
    )
    SELECT (SELECT count(*)::integer FROM booked_changes) AS changes, (SELECT count(*)::integer FROM booked_outcomes) AS outcomes,
           ARRAY(SELECT run_id FROM booked_changes UNION SELECT run_id FROM booked_outcomes) AS runs
    `,
    [limits?.changes ?? null, limits?.outcomes ?? null, ...sliceKeys.values(slices)],
  );
  const [booked] = rows;
  // While delivery reports come in, each batch adds to the counts.
  await foldRunCounts(client, booked?.runs ?? []);
  if (limits === null || !booked) return false;
  return (
    slices.length >= limits.slices || booked.changes >= limits.changes || booked.outcomes >= limits.outcomes
  );
}
