import type pg from 'pg';
import type { RunState } from '../../domain/runs.ts';
import { markUnrecordedInDoubt } from '../requests/doubt.ts';
import { cancelPlanned } from '../requests/release.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { markReleased, type OwnedSlice } from '../slice-states/transitions.ts';
import { lockAcquisitions, queueDb, queueName, type SliceQueue } from './queue.ts';
import { isGraceOver, workerLockKey } from './worker-session.ts';

/** The row of a held slice. The caller has locked it and its run. */
type HeldRow = OwnedSlice & {
  readonly first: number | null;
  readonly last: number | null;
  readonly job: string;
  readonly runState: RunState;
};

const heldColumns = `
  s.run_id AS run, s.slice, s.first_request AS first, s.last_request AS last, s.job, s.owner, r.state AS "runState"`;

/**
 * Reclaims slices of workers whose session lock is free. Skips a run that is changing state: that transaction decides
 * about its slices.
 *
 * @param self the calling worker. If its own session was lost, others may have been too, and nothing is reclaimed.
 *   Null: a command, which has no session
 * @param now called once the slices are locked: until then their owners can begin attempts
 * @returns the number of slices
 */
export async function reclaimSlicesOfEndedWorkers(
  queue: SliceQueue,
  pool: pg.Pool,
  self: string | null,
  now: () => Date,
): Promise<number> {
  const { rows: held } = await pool.query('SELECT FROM slices WHERE state = $1 LIMIT 1', ['held']);
  if (held.length === 0 || !(await mayReclaim(pool, self))) return 0;
  return inTransaction(pool, async (client) => {
    await lockAcquisitions(client);
    const { rows } = await client.query<HeldRow>(
      `
      WITH ended AS MATERIALIZED (
        SELECT worker
        FROM (SELECT DISTINCT worker FROM slices WHERE state = 'held' AND worker IS DISTINCT FROM $1::uuid) w
        WHERE pg_try_advisory_xact_lock(${workerLockKey('worker')})
      )
      SELECT ${heldColumns}
      FROM slices s
      JOIN ended USING (worker)
      JOIN runs r USING (run_id)
      WHERE s.state = 'held'
      FOR NO KEY UPDATE OF r SKIP LOCKED FOR UPDATE OF s SKIP LOCKED
      `,
      [self],
    );
    const foundAt = now();
    for (const slice of rows)
      await releaseSlice(queue, client, slice, { message: 'its worker has ended', now: foundAt });
    return rows.length;
  });
}

/**
 * Lets pg-boss queue slices with an expired lease again. `acquireSlice` then marks their requests in doubt.
 *
 * @param self has renewed its own leases first: after an outage they look stale too
 */
export async function reclaimExpiredSlices(queue: SliceQueue, pool: pg.Pool, self: string): Promise<void> {
  if (await mayReclaim(pool, self)) await queue.supervise(queueName);
}

/** Our own session must hold our lock. If this probe gets the lock, our session was lost. */
async function mayReclaim(pool: pg.Pool, self: string | null): Promise<boolean> {
  if (!(await isGraceOver(pool))) return false;
  if (self === null) return true;
  const { rows } = await pool.query<{ free: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${workerLockKey('$1')}) AS free`,
    [self],
  );
  return rows[0]?.free === false;
}

/**
 * Gives back what was acquired for this owner, before anything was claimed from it: a slice of an account that the worker
 * lacks, or one whose acquisition was committed without an answer.
 */
export async function returnSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  { owner }: Pick<OwnedSlice, 'owner'>,
  now: Date,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    // Also waits for an acquisition whose answer was lost.
    await lockAcquisitions(client);
    const { rows } = await client.query<HeldRow>(
      `
      SELECT ${heldColumns}
      FROM slices s
      JOIN runs r USING (run_id)
      WHERE s.state = 'held' AND s.owner = $1
      FOR NO KEY UPDATE OF r FOR UPDATE OF s
      `,
      [owner],
    );
    for (const held of rows)
      await releaseSlice(queue, client, held, { message: 'its worker returns it unsent', now });
  });
}

/**
 * Queues the slice, with unrecorded requests in doubt: a failed job is offered again by pg-boss. In a paused run the
 * slice waits; in a cancelled one it is done.
 *
 * @param message for the queue: why the slice is released
 */
async function releaseSlice(
  queue: SliceQueue,
  client: Transaction,
  { run, slice, first, last, job, owner, runState }: HeldRow,
  { message, now }: { readonly message: string; readonly now: Date },
): Promise<void> {
  const isCancelled = runState === 'cancelled';
  if (first !== null && last !== null) {
    await markUnrecordedInDoubt(client, { run, slice, first, last }, owner, now);
    // Its former owner may have planned requests again after the run was cancelled.
    if (isCancelled) await cancelPlanned(client, run, now, { first, last });
  }
  const db = queueDb(client);
  const isQueued = runState === 'planned' || runState === 'running';
  await markReleased(client, { run, slice }, isQueued ? 'queued' : isCancelled ? 'done' : 'waiting');
  if (isQueued) await queue.fail(queueName, job, { message }, { db });
  else await queue.complete(queueName, job, null, { db });
}
