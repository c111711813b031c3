import type pg from 'pg';
import type { RunReason } from '../../domain/reasons.ts';
import { isOver, type RunState } from '../../domain/runs.ts';
import { cancelPlanned } from '../requests/cancel.ts';
import { markCancelled, markPaused } from '../run-states/transitions.ts';
import { type Alongside, inTransaction } from '../session.ts';
import { markClosed } from '../slice-states/transitions.ts';
import { wakeChannel } from '../slices/enqueue.ts';
import type { SliceQueue } from '../slices/queue.ts';
import { lockDequeued } from './lock-dequeued.ts';

/** What a run was when it was to be stopped. `changed` is false for a run that cannot be stopped in this way. */
export type Stopped = { readonly changed: boolean; readonly state: RunState };

/**
 * `planned, running → paused`: nothing more of the run is claimed from now on; what is on its way is recorded by whoever
 * sends it.
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
): Promise<Stopped | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockDequeued(queue, client, run);
    if (state === undefined) return undefined;
    if (state !== 'planned' && state !== 'running') return { changed: false, state };
    await markPaused(client, run, reason);
    await alongside?.(client);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return { changed: true, state };
  });
}

/**
 * `planned, running, paused → cancelled`: what is planned is never sent; what is on its way is recorded by whoever sends
 * it.
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
): Promise<Stopped | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockDequeued(queue, client, run);
    if (state === undefined) return undefined;
    if (isOver(state)) return { changed: false, state };
    await markCancelled(client, run, reason, now);
    await alongside?.(client);
    await cancelPlanned(client, run, now, null);
    await markClosed(client, run);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return { changed: true, state };
  });
}
