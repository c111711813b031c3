import type pg from 'pg';
import type { RunReason, UnrecordedReason } from '../../domain/reasons.ts';
import { hasEnded, type RunState } from '../../domain/runs.ts';
import { doubtRepeatedNumbers, markPlannedInDoubt, type UnrecordedCause } from '../requests/doubt.ts';
import { cancelPlanned } from '../requests/release.ts';
import { markCancelled, markPaused, markUnrecorded } from '../run-states/transitions.ts';
import { type Alongside, inTransaction } from '../session.ts';
import { markClosed } from '../slice-states/transitions.ts';
import { lockAndDequeueRun, wakeChannel } from '../slices/enqueue.ts';
import type { SliceQueue } from '../slices/queue.ts';
import { dropRest } from '../watch/rests.ts';

/** The state before. `changed` is false if the run cannot be stopped in this way. */
export type StopResult = { readonly changed: boolean; readonly state: RunState };

/**
 * `planned, running → paused`: nothing more is claimed; requests in flight are still recorded.
 *
 * @param alongside runs in the same transaction if anything changes
 * @returns undefined if there is no such run
 */
export async function pauseRun(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  { reason, alongside }: { readonly reason: RunReason; readonly alongside?: Alongside },
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
 * `planned, running, paused → cancelled`: planned requests are never sent; those in flight are still recorded. Contacts that
 * wait for a winner get nothing, also of a run that is completed and stays so.
 *
 * @returns undefined if there is no such run
 */
export async function cancelRun(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  {
    reason,
    now,
    alongside,
  }: { readonly reason: RunReason; readonly now: Date; readonly alongside?: Alongside },
): Promise<StopResult | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockAndDequeueRun(queue, client, run);
    if (state === undefined) return undefined;
    const dropped = await dropRest(client, run);
    if (hasEnded(state)) {
      if (dropped) await alongside?.(client);
      return { changed: dropped, state };
    }
    await markCancelled(client, run, reason, now);
    await alongside?.(client);
    await cancelPlanned(client, run, now, null);
    await markClosed(client, run);
    await doubtRepeatedNumbers(client, { run }, now);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return { changed: true, state };
  });
}

/** Pauses the run (`markPlannedInDoubt`). @returns the requests in doubt; undefined if the run is over */
export async function markUnsentInDoubt(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  { reason, since, now }: UnrecordedCause & { readonly now: Date },
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

/** A delivery report proves a request without a known attempt. */
export type UntriedProof = { readonly run: string; readonly reason: UnrecordedReason };

export async function listUntriedProofs(pool: pg.Pool): Promise<UntriedProof[]> {
  const { rows } = await pool.query<{ run: string; messageId: string }>(
    'SELECT run_id AS run, message_id AS "messageId" FROM untried_proofs ORDER BY run_id',
  );
  return rows.map(({ run, messageId }) => ({ run, reason: { kind: 'untried_proof', messageId } }));
}
