import type pg from 'pg';
import { cancelPlanned } from '../requests/cancel.ts';
import { compactOutcomes } from '../requests/compact.ts';
import { doubtOrphanedRequests, doubtsSlice } from '../requests/orphans.ts';
import { addLostRows } from '../requests/rows.ts';
import { markCompleted } from '../run-states/transitions.ts';
import { inTransaction, type Transaction } from '../session.ts';
import type { HeldSlice } from './acquire.ts';
import { enqueueSlice, enqueueSlices, type SlicePlan } from './enqueue.ts';
import { queueName, type SliceQueue, throughClient } from './queue.ts';

/** What can be done about requests in doubt without an operator, once all others are done. */
export type DoubtPolicy = {
  readonly lookUp: boolean;
  /** How often a request may be sent again; 0: never. */
  readonly resends: number;
};

/** How a slice was given up. `lost`: it was another worker's already, and nothing was changed. */
export type Finished = 'done' | 'given back' | 'lost';

/**
 * Gives a held slice up: done when nothing of it is left to send, and else for another holding. In the same transaction the
 * run's next slices go into the queue, or the run is completed. A worker has recorded everything by then; what it has not
 * is in doubt.
 */
export async function finishSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  held: HeldSlice,
  plan: SlicePlan,
  policy: DoubtPolicy,
  /** Whether the worker was to stop before it was done with the slice. */
  interrupted: boolean,
  now: Date,
): Promise<Finished> {
  const { run, slice, owner, job } = held;
  return inTransaction(pool, async (client) => {
    const { rows: runs } = await client.query<{ state: string }>(
      'SELECT state FROM runs WHERE run_id = $1 FOR UPDATE',
      [run],
    );
    const state = runs[0]?.state;
    if (state === 'cancelled') await cancelPlanned(client, run, now, held);
    await doubtLateClaims(client, held, now);
    // Slice 0 has no requests of its own: what it sends again is in the others.
    const { rows } = await client.query<{ state: 'done' | 'waiting' }>(
      `
      UPDATE slices
      SET job = NULL, worker = NULL, owner = NULL,
          state = CASE
            WHEN slice > 0 AND claimed_to < last_request THEN CASE WHEN $5 THEN 'done' ELSE 'waiting' END
            WHEN slice > 0 AND EXISTS (
              SELECT FROM requests
              WHERE run_id = $1 AND request BETWEEN first_request AND last_request AND state = 'planned'
            ) THEN 'waiting'
            WHEN slice = 0 AND EXISTS (
              SELECT FROM slices WHERE run_id = $1 AND slice > 0 AND state <> 'done'
            ) THEN 'waiting'
            WHEN slice = 0 AND $4 THEN 'waiting'
            ELSE 'done'
          END
      WHERE run_id = $1 AND slice = $2 AND owner = $3
      RETURNING state
      `,
      [
        run,
        slice,
        owner,
        state !== 'cancelled' && (interrupted || state !== 'running'),
        state === 'cancelled',
      ],
    );
    const [given] = rows;
    if (!given) return 'lost';
    if (given.state === 'done') await compactOutcomes(client, run, slice);
    await queue.complete(queueName, [job], null, { db: throughClient(client) });
    if (state === 'running') await enqueueSlices(queue, client, plan);
    await completeRun(queue, client, plan, policy, now);
    return given.state === 'done' ? 'done' : 'given back';
  });
}

/** The run is completed when no slice is left; before that, its requests in doubt are looked at. */
export async function completeRun(
  queue: SliceQueue,
  client: Transaction,
  plan: SlicePlan,
  policy: DoubtPolicy,
  now: Date,
): Promise<void> {
  const { run } = plan;
  const { rows } = await client.query<{ running: boolean }>(
    `
    SELECT state = 'running' AS running
    FROM runs
    WHERE run_id = $1 AND state IN ('running', 'paused')
      AND NOT EXISTS (SELECT FROM slices WHERE run_id = $1 AND slice > 0 AND state <> 'done')
      AND NOT EXISTS (SELECT FROM slices WHERE run_id = $1 AND slice = 0 AND state IN ('queued', 'held'))
    `,
    [run],
  );
  const [whole] = rows;
  if (!whole) return;
  if (await hasDoubts(client, run, policy)) {
    if (whole.running) await enqueueSlice(queue, client, plan, doubtsSlice);
    return;
  }
  await markCompleted(client, run, now);
  await client.query(
    `UPDATE slices SET state = 'done' WHERE run_id = $1 AND slice = 0 AND state = 'waiting'`,
    [run],
  );
}

/** Whether something is in doubt that has not been looked at, or may be sent again. */
async function hasDoubts(
  client: Transaction,
  run: string,
  { lookUp, resends }: DoubtPolicy,
): Promise<boolean> {
  if (!lookUp && resends === 0) return false;
  const { rows } = await client.query(
    `
    SELECT FROM requests
    WHERE run_id = $1 AND state = 'in_doubt'
      AND (resends < $2
           OR ($3 AND EXISTS (SELECT FROM slices WHERE run_id = $1 AND slice = 0 AND state = 'waiting')))
    LIMIT 1
    `,
    [run, resends, lookUp],
  );
  return rows.length > 0;
}

/**
 * Whoever gives a slice up is sending nothing of it. What is `sending` all the same was claimed by an earlier holder whose
 * last statement Postgres committed when that holder was dead, and the slice taken over.
 */
async function doubtLateClaims(client: Transaction, held: HeldSlice, now: Date): Promise<void> {
  const { run, slice, owner } = held;
  const { rowCount } = await client.query(
    'SELECT FROM slices WHERE run_id = $1 AND slice = $2 AND owner = $3 FOR UPDATE',
    [run, slice, owner],
  );
  if (rowCount !== 1) return;
  await addLostRows(client, held, owner);
  await doubtOrphanedRequests(client, held, now);
}
