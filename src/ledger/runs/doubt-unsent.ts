import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { isOver } from '../../domain/runs.ts';
import { reportProof } from '../requests/proof.ts';
import { addRowsOfPlanned } from '../requests/rows.ts';
import { markUnrecorded } from '../run-states/transitions.ts';
import { inTransaction } from '../session.ts';
import { wakeChannel } from '../slices/enqueue.ts';
import type { SliceQueue } from '../slices/queue.ts';
import { lockDequeued } from './lock-dequeued.ts';

/** Why, and since when the ledger may lack what was done. */
export type Unrecorded = { readonly reason: string; readonly since: Date };

/**
 * `planned → in_doubt` for all that is left of a run which may have been sent by a ledger that is gone; what a report has
 * proved is accepted. Each gets the attempt that may have been made, so that it is billed and explained as what was tried
 * is. The run is paused.
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
    await addRowsOfPlanned(client, run);
    const { rows } = await client.query<{ doubts: number }>(
      `
      WITH unsent AS (
        UPDATE requests
        SET state = CASE WHEN reported THEN 'accepted' ELSE 'in_doubt' END,
            reason = CASE WHEN reported THEN '${reportProof}' ELSE $2 END,
            attempts = attempts + 1, updated_at = $4
        WHERE run_id = $1 AND state = 'planned'
        RETURNING request, attempts, state
      ), unrecorded AS (
        INSERT INTO attempts (run_id, request, attempt, owner, started_at, finished_at, verdict, detail)
        SELECT $1, request, attempts, $5, $3, $4, 'in_doubt', $2
        FROM unsent
      ), counted AS (
        UPDATE slices s
        SET settled = s.settled + c.settled, not_accepted = s.not_accepted + c.doubts
        FROM (
          SELECT slice, count(*) AS settled, count(*) FILTER (WHERE u.state = 'in_doubt') AS doubts
          FROM unsent u
          JOIN slices ON run_id = $1 AND request BETWEEN first_request AND last_request
          GROUP BY slice
        ) c
        WHERE s.run_id = $1 AND s.slice = c.slice
      )
      SELECT CAST(count(*) FILTER (WHERE state = 'in_doubt') AS integer) AS doubts FROM unsent
      `,
      [run, reason, since, now, randomUUID()],
    );
    await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
    return rows[0]?.doubts ?? 0;
  });
}

/** A run of which a report proved a request that the ledger never tried, and that proof in words. */
export type UntriedProof = { readonly run: string; readonly reason: string };

export async function listUntriedProofs(pool: pg.Pool): Promise<UntriedProof[]> {
  const { rows } = await pool.query<UntriedProof>(
    'SELECT run_id AS run, reason FROM untried_proofs ORDER BY run_id',
  );
  return rows;
}
