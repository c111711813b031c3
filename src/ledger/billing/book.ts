import type pg from 'pg';
import { batchOf } from '../batch.ts';
import { foldRunCounts } from '../counts/fold.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { entryFigures } from './figures.ts';

/** An arbitrary lock number for booking and for closing a period. */
export const billingLock = 4_190_733_815;

/** Of one transaction. A row of billing_outcomes has the sums of a batch of delivery reports, so its limit is smaller. */
const limits = { slices: 128, changes: 50_000, outcomes: 500 };

/**
 * Books part of what is not booked in one transaction; nothing while another process books.
 *
 * @returns whether to book again; false if another process is booking
 */
export async function bookPending(pool: pg.Pool): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ locked: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${billingLock}) AS locked`,
    );
    return rows[0]?.locked === true && book(client, limits, { kind: 'none' });
  });
}

/** Waits for other bookings; none begins before the transaction ends. */
export async function lockBilling(client: Transaction): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${billingLock})`);
}

/** Like `bookPending`, with the unsettled requests of a run as they are now. Waits for other bookings. */
export async function bookPendingOf(pool: pg.Pool, run: string): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    await lockBilling(client);
    return book(client, limits, { kind: 'of run', run });
  });
}

/** Books everything, of unsettled requests too, except changes with an unknown send time. Waits for other bookings. */
export async function bookEverything(client: Transaction): Promise<void> {
  await lockBilling(client);
  await book(client, { slices: null, changes: null, outcomes: null }, { kind: 'all' });
}

type Limits = Readonly<Record<keyof typeof limits, number | null>>;

/** Unsettled requests that are booked besides the settled ones. */
type Unsettled =
  | { readonly kind: 'none' }
  | { readonly kind: 'of run'; readonly run: string }
  | { readonly kind: 'all' };

/**
 * Booking never blocks transactions that change requests, or the reverse: it reads which slices are done, and changes of
 * settled requests are recorded by their own transactions. Those that it misses remain for the next booking.
 *
 * @returns whether more may be pending
 */
async function book(client: Transaction, limits: Limits, unsettled: Unsettled): Promise<boolean> {
  await client.query("SET LOCAL work_mem = '64MB'; SET LOCAL jit = off");
  await client.query(reopenSlices);
  const run = unsettled.kind === 'of run' ? unsettled.run : null;
  const chosen = [limits.slices, unsettled.kind === 'all', run];
  const { rows: slices } = await client.query<SliceKey>(chooseSlices, chosen);
  const { rows: changes } = await client.query<RowPlace>(chooseChanges(limits.changes), [limits.changes]);
  const { rows: outcomes } = await client.query<RowPlace>(chooseOutcomes, [limits.outcomes]);
  const runs = [...new Set([...changes, ...outcomes].map(({ run_id }) => run_id))];
  if (slices.length === 0 && runs.length === 0) return false;
  const places = (rows: readonly RowPlace[]): string[] => rows.map(({ place }) => place);
  await client.query(bookChosen, [runs, places(changes), places(outcomes), ...sliceKeys.values(slices)]);
  // While delivery reports come in, each batch adds to the counts.
  await foldRunCounts(client, runs);
  const isFull = (rows: readonly unknown[], limit: number | null): boolean =>
    limit !== null && rows.length >= limit;
  return (
    isFull(slices, limits.slices) || isFull(changes, limits.changes) || isFull(outcomes, limits.outcomes)
  );
}

type SliceKey = { readonly run_id: string; readonly slice: number };
/** The place is a `ctid`. */
type RowPlace = { readonly run_id: string; readonly place: string };

const sliceKeys = batchOf<SliceKey>({
  run_id: ['text', ({ run_id }) => run_id],
  slice: ['integer', ({ slice }) => slice],
});

/** SQL to join: the slice of a row's request. */
const sliceOf = (row: string): string => `LATERAL (
    SELECT slice, state
    FROM slices
    WHERE run_id = ${row}.run_id AND first_request <= ${row}.request
    ORDER BY first_request DESC
    LIMIT 1
  )`;

const reopenSlices = `
  WITH reopened AS (
    DELETE FROM billing_reopened_requests RETURNING run_id, request
  )
  INSERT INTO billing_slices (run_id, slice, open)
  SELECT DISTINCT n.run_id, s.slice, true
  FROM reopened n
  CROSS JOIN ${sliceOf('n')} s
  ON CONFLICT (run_id, slice) DO UPDATE SET open = true
`;

const chooseSlices = `
  SELECT run_id, slice
  FROM (
    SELECT b.run_id, b.slice
    FROM billing_slices b
    JOIN runs r USING (run_id)
    JOIN slices s USING (run_id, slice)
    WHERE b.open AND r.state <> 'planned' AND s.state = 'done'
    ORDER BY b.run_id, b.slice
    LIMIT $1
  ) done
  UNION ALL
  SELECT u.run_id, u.slice
  FROM unbooked_slices u
  JOIN slices s USING (run_id, slice)
  WHERE s.state <> 'done' AND ($2 OR u.run_id = $3)
`;

/**
 * A change waits while its request has no send time yet: it is planned, or sending without a row. Booked at the time of
 * its claim, the change could not be moved later. The lock keeps `moveOutcomesToLastAttempt` from moving a chosen one. What that
 * moves now is booked in the next round, except where a month is closed: there everything is booked.
 */
const chooseChanges = (limit: number | null): string => `
  SELECT run_id, ctid::text AS place
  FROM billing_changes c
  WHERE NOT EXISTS (
    SELECT
    FROM ${sliceOf('c')} s
    CROSS JOIN LATERAL (
      SELECT state FROM ordinary_requests_between(c.run_id, c.request, c.request)
      UNION ALL
      SELECT state FROM requests WHERE run_id = c.run_id AND request = c.request AND attempts = 0
    ) q
    WHERE s.state <> 'done' AND q.state IN ('planned', 'sending')
  )
  LIMIT $1
  FOR UPDATE OF c${limit === null ? '' : ' SKIP LOCKED'}
`;

/** Only booking deletes these rows. A purge changes them (`renameUnbookedEnvelopes`), under the lock of booking. */
const chooseOutcomes = 'SELECT run_id, ctid::text AS place FROM billing_outcomes LIMIT $1';

const keys = 'run_id, slice, sent, booked, sub_account, department, charge_code';

const bookChosen = `
  WITH chosen AS MATERIALIZED (
    SELECT * FROM ${sliceKeys.table('chosen', 4)}
  ), unbooked AS (
    SELECT u.* FROM chosen c CROSS JOIN LATERAL unbooked_requests(c.run_id, c.slice) u
    UNION ALL
    SELECT u.* FROM unnest($1::text[]) AS run CROSS JOIN LATERAL unbooked_outcomes(run, $2::tid[], $3::tid[]) u
  ), booked AS (
    INSERT INTO billing_entries AS n (${keys}, ${entryFigures.join(', ')})
    SELECT ${keys}, ${entryFigures.map((figure) => `sum(${figure})`).join(', ')}
    FROM unbooked
    GROUP BY ${keys}
    HAVING ${entryFigures.map((figure) => `sum(${figure}) <> 0`).join(' OR ')}
    ORDER BY ${keys}
    ON CONFLICT (${keys}) DO UPDATE
    SET ${entryFigures.map((figure) => `${figure} = n.${figure} + excluded.${figure}`).join(', ')}
  ), closed AS (
    UPDATE billing_slices b
    SET open = s.state <> 'done'
    FROM chosen c
    JOIN slices s USING (run_id, slice)
    WHERE b.run_id = c.run_id AND b.slice = c.slice
  ), booked_changes AS (
    DELETE FROM billing_changes WHERE ctid = ANY ($2::tid[])
  )
  DELETE FROM billing_outcomes WHERE ctid = ANY ($3::tid[])
`;
