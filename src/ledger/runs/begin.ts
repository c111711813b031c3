import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { findApproval } from '../approvals/approvals.ts';
import { countSettled, readRunCounts } from '../counts/run-counts.ts';
import { markBegun, markResumed } from '../run-states/transitions.ts';
import { type Alongside, inTransaction } from '../session.ts';
import { reopenDoubts } from '../slice-states/transitions.ts';
import { enqueueSlices, lockAndDequeueRun } from '../slices/enqueue.ts';
import { type CompleteOptions, completeRun } from '../slices/finish.ts';
import type { SliceQueue } from '../slices/queue.ts';
import { restartWatch } from '../watch/watches.ts';

export type BeginOptions = CompleteOptions & {
  readonly includePaused?: boolean;
  /** Runs in the same transaction, with the run locked, before anything changes. By throwing it prevents the change. */
  readonly check?: Alongside;
  /** Runs in the same transaction, with the former state, if anything changes. */
  readonly alongside?: (client: Parameters<Alongside>[0], before: RunState) => Promise<void>;
};

/**
 * `planned, paused, running → running`: queues slices under the account's present limits. Completes a run with
 * nothing to send.
 *
 * @returns the former state. Nothing changes if the run is over, waits for approval, or is paused without
 *   `includePaused`
 */
export async function beginRun(
  queue: SliceQueue,
  pool: pg.Pool,
  { plan, policy, now, includePaused = true, check, alongside }: BeginOptions,
): Promise<RunState | 'unapproved' | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockAndDequeueRun(queue, client, plan.run);
    await check?.(client);
    const begins = state === 'planned' || state === 'running' || (state === 'paused' && includePaused);
    if (!begins) return state;
    const approval = await findApproval(client, plan.run);
    if (approval && approval.approvedAt === null) return 'unapproved';
    if (state === 'planned') await markBegun(client, plan.run);
    if (state === 'paused') {
      await markResumed(client, plan.run);
      const counts = (await readRunCounts(client, [plan.run])).get(plan.run);
      await client.query('UPDATE runs SET settled_before = $2, rejected_before = $3 WHERE run_id = $1', [
        plan.run,
        counts ? countSettled(counts) : 0,
        counts?.requests.rejected ?? 0,
      ]);
      await reopenDoubts(client, plan.run);
      await restartWatch(client, plan.run);
    }
    await alongside?.(client, state);
    await enqueueSlices(queue, client, plan);
    await completeRun(queue, client, { plan, policy, now });
    return state;
  });
}
