import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { cancelPlanned } from '../requests/cancel.ts';
import { compactOutcomes } from '../requests/compact.ts';
import { markUnrecordedInDoubt } from '../requests/mark-unrecorded-in-doubt.ts';
import { markCompleted } from '../run-states/transitions.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { markClosed, markDoubtsFinished, markSendingFinished } from '../slice-states/transitions.ts';
import type { HeldSlice } from './acquire.ts';
import { enqueueDoubts, enqueueSlices, type SlicePlan } from './enqueue.ts';
import { queueDb, queueName, type SliceQueue } from './queue.ts';

/** What can be done about requests in doubt without an operator, once all others are done. */
export type DoubtPolicy = {
  readonly lookUp: boolean;
  /** How often a request may be sent again; 0: never. */
  readonly resends: number;
};

/** How a slice was given up. `lost`: it was another worker's already, and nothing was changed. */
export type FinishResult = 'done' | 'returned' | 'lost';

/**
 * Gives a held slice up: done when nothing of it is left to send, and else for another holding. In the same transaction the
 * run's next slices go into the queue, or the run is completed. What its owner has not recorded by then is in doubt.
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
): Promise<FinishResult> {
  const { run, job } = held;
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ state: RunState }>(
      'SELECT state FROM runs WHERE run_id = $1 FOR NO KEY UPDATE',
      [run],
    );
    const state = rows[0]?.state ?? 'cancelled';
    const given =
      (await isOwner(client, held)) && (await releaseSlice(client, held, state, interrupted, now));
    if (!given) return 'lost';
    await queue.complete(queueName, [job], null, { db: queueDb(client) });
    if (state === 'running') await enqueueSlices(queue, client, plan);
    await completeRun(queue, client, plan, policy, now);
    return given === 'done' ? 'done' : 'returned';
  });
}

async function isOwner(client: Transaction, { run, slice, owner }: HeldSlice): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT FROM slices WHERE run_id = $1 AND slice = $2 AND owner = $3 FOR UPDATE',
    [run, slice, owner],
  );
  return rowCount === 1;
}

async function releaseSlice(
  client: Transaction,
  held: HeldSlice,
  runState: RunState,
  interrupted: boolean,
  now: Date,
): Promise<'done' | 'waiting'> {
  const isOver = runState === 'cancelled';
  if (held.phase === 'settling doubts') {
    return markDoubtsFinished(client, held, !isOver && (interrupted || runState !== 'running'));
  }
  if (isOver) await cancelPlanned(client, held.run, now, held);
  await markUnrecordedInDoubt(client, held, held.owner, now);
  const given = await markSendingFinished(client, held, runState);
  if (given === 'done') await compactOutcomes(client, held.run, held.slice);
  return given;
}

/** The run is completed when no slice is left; before that comes the phase in which its doubts are settled. */
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
      AND NOT EXISTS (
        SELECT FROM slices
        WHERE run_id = $1 AND state <> 'done' AND (phase = 'sending' OR state IN ('queued', 'held'))
      )
    `,
    [run],
  );
  const [whole] = rows;
  if (!whole) return;
  if (await hasDoubts(client, run, policy)) {
    if (whole.running) await enqueueDoubts(queue, client, plan);
    return;
  }
  await markCompleted(client, run, now);
  await markClosed(client, run);
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
           OR ($3 AND EXISTS (SELECT FROM slices WHERE run_id = $1 AND phase = 'settling doubts' AND state = 'waiting')))
    LIMIT 1
    `,
    [run, resends, lookUp],
  );
  return rows.length > 0;
}
