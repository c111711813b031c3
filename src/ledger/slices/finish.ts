import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { foldRunCounts, foldWholeRun } from '../counts/fold.ts';
import { compactOutcomes } from '../requests/advance.ts';
import { doubtRepeatedNumbers, markUnrecordedInDoubt } from '../requests/doubt.ts';
import { cancelPlanned } from '../requests/release.ts';
import { lockRun, markCompleted } from '../run-states/transitions.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { markClosed, markDoubtsFinished, markSendingFinished } from '../slice-states/transitions.ts';
import type { HeldSlice } from './acquire.ts';
import { enqueueDoubts, enqueueSlices, type SlicePlan } from './enqueue.ts';
import { queueDb, queueName, type SliceQueue } from './queue.ts';

/** How requests in doubt are settled without an operator. */
export type DoubtPolicy = {
  readonly lookUp: boolean;
  readonly resends: number;
};

/** `lost`: the slice has another owner; nothing was changed. */
type FinishResult = 'done' | 'returned' | 'lost';

export type CompleteOptions = { readonly plan: SlicePlan; readonly policy: DoubtPolicy; readonly now: Date };

/** `interrupted`: the worker was stopped before the slice was done. */
type FinishOptions = CompleteOptions & { readonly interrupted: boolean };

/**
 * A held slice is done if nothing is left to send, else it can be acquired again. Requests without an outcome become
 * in doubt. The same transaction queues the run's next slices or completes the run.
 */
export async function finishSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  held: HeldSlice,
  { plan, policy, interrupted, now }: FinishOptions,
): Promise<FinishResult> {
  const { run, job } = held;
  return inTransaction(pool, async (client) => {
    const state = (await lockRun(client, run)) ?? 'cancelled';
    const released =
      (await isOwner(client, held)) && (await finishPhase(client, held, state, { interrupted, now }));
    if (!released) return 'lost';
    await foldRunCounts(client, [run]);
    await queue.complete(queueName, [job], null, { db: queueDb(client) });
    if (state === 'running') await enqueueSlices(queue, client, plan);
    await completeRun(queue, client, { plan, policy, now });
    return released === 'done' ? 'done' : 'returned';
  });
}

async function isOwner(client: Transaction, { run, slice, owner }: HeldSlice): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT FROM slices WHERE run_id = $1 AND slice = $2 AND owner = $3 FOR UPDATE',
    [run, slice, owner],
  );
  return rowCount === 1;
}

async function finishPhase(
  client: Transaction,
  held: HeldSlice,
  runState: RunState,
  { interrupted, now }: Pick<FinishOptions, 'interrupted' | 'now'>,
): Promise<'done' | 'waiting'> {
  const isCancelled = runState === 'cancelled';
  if (held.phase === 'settling doubts') {
    return markDoubtsFinished(client, held, !isCancelled && (interrupted || runState !== 'running'));
  }
  if (isCancelled) await cancelPlanned(client, held.run, now, held);
  await markUnrecordedInDoubt(client, held, held.owner, now);
  const released = await markSendingFinished(client, held, runState);
  if (released === 'done') {
    await compactOutcomes(client, held.run, held.slice);
    await doubtRepeatedNumbers(client, held, now);
  }
  return released;
}

/** Completes a run without open slices, after its doubts are settled. */
export async function completeRun(
  queue: SliceQueue,
  client: Transaction,
  { plan, policy, now }: CompleteOptions,
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
  const [completable] = rows;
  if (!completable) return;
  if (await hasDoubts(client, run, policy)) {
    if (completable.running) await enqueueDoubts(queue, client, plan);
    return;
  }
  await markCompleted(client, run, now);
  await foldWholeRun(client, run);
  await markClosed(client, run);
}

/** Whether a request in doubt must be looked up or can be resent. */
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
