import type pg from 'pg';
import type { RunReason, UnrecordedReason } from '../../domain/reasons.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import { cancelPlanned } from '../requests/cancel.ts';
import { markPlannedInDoubt, type UnrecordedCause } from '../requests/mark-planned-in-doubt.ts';
import { markCancelled, markPaused, markUnrecorded } from '../run-states/transitions.ts';
import { type Alongside, inTransaction } from '../session.ts';
import { markClosed } from '../slice-states/transitions.ts';
import { wakeChannel } from '../slices/enqueue.ts';
import type { SliceQueue } from '../slices/queue.ts';
import { lockAndDequeueRun } from './lock-run.ts';

/** What a run was when it was to be stopped. `changed` is false for a run that cannot be stopped in this way. */
export type StopResult = { readonly changed: boolean; readonly state: RunState };

/**
 * `planned, running → paused`: nothing more of the run is claimed; what is on its way is recorded by its worker.
 *
 * @param alongside committed with it, where it changes anything
 * @returns undefined when there is no such run
 */
export async function pauseRun(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  reason: RunReason,
  alongside?: Alongside,
): Promise<StopResult | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockAndDequeueRun(queue, client, run);
    if (state === undefined) return undefined;
    if (state !== 'planned' && state !== 'running') return { changed: false, state };
    await markPaused(client, run, reason);
    await alongside?.(client);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return { changed: true, state };
  });
}

/**
 * `planned, running, paused → cancelled`: what is planned is never sent; what is on its way is recorded by its worker.
 *
 * @returns undefined when there is no such run
 */
export async function cancelRun(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  reason: RunReason,
  now: Date,
  alongside?: Alongside,
): Promise<StopResult | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockAndDequeueRun(queue, client, run);
    if (state === undefined) return undefined;
    if (hasEnded(state)) return { changed: false, state };
    await markCancelled(client, run, reason, now);
    await alongside?.(client);
    await cancelPlanned(client, run, now, null);
    await markClosed(client, run);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return { changed: true, state };
  });
}

/** The run is paused (`markPlannedInDoubt`). @returns how many requests are in doubt by it; undefined of a run that is over */
export async function markUnsentInDoubt(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  { reason, since }: UnrecordedCause,
  now: Date,
): Promise<number | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockAndDequeueRun(queue, client, run);
    await client.query('DELETE FROM untried_proofs WHERE run_id = $1', [run]);
    if (state === undefined || hasEnded(state)) return undefined;
    await markUnrecorded(client, run, reason);
    const doubts = await markPlannedInDoubt(client, run, { reason, since }, now);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return doubts;
  });
}

/** A run of which a report proved a request that the ledger never tried, and that proof. */
export type UntriedProof = { readonly run: string; readonly reason: UnrecordedReason };

export async function listUntriedProofs(pool: pg.Pool): Promise<UntriedProof[]> {
  const { rows } = await pool.query<{ run: string; messageId: string }>(
    'SELECT run_id AS run, message_id AS "messageId" FROM untried_proofs ORDER BY run_id',
  );
  return rows.map(({ run, messageId }) => ({ run, reason: { kind: 'untried_proof', messageId } }));
}
