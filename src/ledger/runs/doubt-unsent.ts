import type pg from 'pg';
import type { UnrecordedReason } from '../../domain/reasons.ts';
import { isOver } from '../../domain/runs.ts';
import { doubtPlanned, type Unrecorded } from '../requests/doubt-planned.ts';
import { markUnrecorded } from '../run-states/transitions.ts';
import { inTransaction } from '../session.ts';
import { wakeChannel } from '../slices/enqueue.ts';
import type { SliceQueue } from '../slices/queue.ts';
import { lockDequeued } from './lock-dequeued.ts';

/**
 * Puts in doubt what is left of a run which may have been sent by a ledger that is gone (`doubtPlanned`). The run is
 * paused.
 *
 * @returns how many requests are in doubt by it; undefined of a run that is over
 */
export async function doubtUnsent(
  queue: SliceQueue,
  pool: pg.Pool,
  run: string,
  { reason, since }: Unrecorded,
  now: Date,
): Promise<number | undefined> {
  return inTransaction(pool, async (client) => {
    const state = await lockDequeued(queue, client, run);
    await client.query('DELETE FROM untried_proofs WHERE run_id = $1', [run]);
    if (state === undefined || isOver(state)) return undefined;
    await markUnrecorded(client, run, reason);
    const doubts = await doubtPlanned(client, run, { reason, since }, now);
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return doubts;
  });
}

/** A run of which a report proved a request that the ledger never tried, and that proof. */
export type UntriedProof = { readonly run: string; readonly reason: UnrecordedReason };

export async function listUntriedProofs(pool: pg.Pool): Promise<UntriedProof[]> {
  const { rows } = await pool.query<UntriedProof>(
    `SELECT run_id AS run, jsonb_build_object('kind', 'untried_proof', 'messageId', message_id) AS reason
     FROM untried_proofs
     ORDER BY run_id`,
  );
  return rows;
}
