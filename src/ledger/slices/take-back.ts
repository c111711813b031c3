import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { cancelPlanned } from '../requests/cancel.ts';
import { doubtOrphanedRequests } from '../requests/orphans.ts';
import { addLostRows } from '../requests/rows.ts';
import { queueName, type SliceQueue, throughClient } from './queue.ts';

/** A held slice that is to be its holder's no longer; the caller's transaction has locked it and its run. */
export type DbTakenSlice = {
  readonly run_id: string;
  readonly slice: number;
  readonly first_request: number;
  readonly last_request: number;
  readonly job: string;
  readonly owner: string;
  readonly run_state: RunState;
};

/**
 * Into the queue again, with what it was sending in doubt. Out of it where its run no longer runs, and done where that was
 * cancelled.
 */
export async function takeBack(
  queue: SliceQueue,
  client: pg.ClientBase,
  { run_id: run, slice, first_request: first, last_request: last, job, owner, run_state }: DbTakenSlice,
  /** Why it is not held any more, in words; the queue keeps it. */
  message: string,
  now: Date,
): Promise<void> {
  const running = run_state === 'planned' || run_state === 'running';
  const cancelled = run_state === 'cancelled';
  await addLostRows(client, { run, slice, first, last }, owner);
  await doubtOrphanedRequests(client, { run, slice, first, last }, now);
  // What the dead one gave back after the run was cancelled.
  if (cancelled) await cancelPlanned(client, run, now, { first, last });
  await client.query(
    `
    UPDATE slices
    SET worker = NULL, owner = NULL, state = CASE WHEN $3 THEN 'queued' WHEN $4 THEN 'done' ELSE 'waiting' END,
        job = CASE WHEN $3 THEN job END
    WHERE run_id = $1 AND slice = $2
    `,
    [run, slice, running, cancelled],
  );
  const db = throughClient(client);
  if (running) await queue.fail(queueName, job, { message }, { db });
  else await queue.complete(queueName, job, null, { db });
}
