import type pg from 'pg';
import type { Priority } from '../../domain/runs.ts';
import { rankOf } from './priority.ts';
import { queueName, type SliceQueue, throughClient } from './queue.ts';

/** How a run's slices go through the queue. */
export type SlicePlan = {
  readonly run: string;
  /** The group of its jobs. */
  readonly account: string;
  /** Slices of the account that may be held at once, over all workers and runs: 1 to `mostSlots`. */
  readonly slots: number;
  /** Slices of the run that may be in the queue or held at once. */
  readonly atOnce: number;
  /** Whether the first slice must be done before any other is begun. */
  readonly canary: boolean;
  readonly priority: Priority;
};

export const mostSlots = 4;

/** Told to every worker that listens when there may be something to do for it. */
export const wakeChannel = 'volley_wake';

/** What a job of a run has besides its slice. `rank`: see `rankOf`. */
type JobPlan = Pick<SlicePlan, 'run' | 'account' | 'slots'> & { readonly rank: number };

/** What a job says. */
export type SliceJob = { readonly run: string; readonly slice: number };

/**
 * Puts a run's next slices into the queue, as many as may be there at once. The caller's transaction holds the run's row,
 * so that two of them do not queue one too many. Those whose window is shut stay where they are, and of the others go first
 * whose window shuts first. A run has few slices in the queue however large it is, so that runs take turns.
 *
 * @returns how many were queued
 */
export async function enqueueSlices(
  queue: SliceQueue,
  client: pg.ClientBase,
  plan: SlicePlan,
): Promise<number> {
  const { run, atOnce, canary } = plan;
  const { rows } = await client.query<{ slice: number; job: string }>(
    `
    UPDATE slices s
    SET state = 'queued', job = gen_random_uuid()
    FROM (
      SELECT slice
      FROM slices
      LEFT JOIN (SELECT place AS window_place, opens_at, shuts_at FROM run_windows WHERE run_id = $1) w
        USING (window_place)
      WHERE run_id = $1 AND state = 'waiting' AND slice > 0
        AND ($3 IS FALSE OR slice = 1
             OR EXISTS (SELECT FROM slices WHERE run_id = $1 AND slice = 1 AND state = 'done'))
        AND opens_at IS NULL
      ORDER BY shuts_at, slice
      LIMIT greatest(0, $2 - (SELECT count(*) FROM slices WHERE run_id = $1 AND state IN ('queued', 'held')))
    ) next
    WHERE s.run_id = $1 AND s.slice = next.slice
    RETURNING s.slice, s.job
    `,
    [run, atOnce, canary],
  );
  await insertJobs(queue, client, { ...plan, rank: rankOf(plan.priority) }, rows);
  return rows.length;
}

/** Puts one slice into the queue that nobody holds. */
export async function enqueueSlice(
  queue: SliceQueue,
  client: pg.ClientBase,
  plan: Pick<SlicePlan, 'run' | 'account' | 'slots' | 'priority'>,
  slice: number,
): Promise<void> {
  const { rows } = await client.query<{ slice: number; job: string }>(
    `
    UPDATE slices
    SET state = 'queued', job = gen_random_uuid()
    WHERE run_id = $1 AND slice = $2 AND state IN ('waiting', 'done')
    RETURNING slice, job
    `,
    [plan.run, slice],
  );
  await insertJobs(queue, client, { ...plan, rank: rankOf(plan.priority) }, rows);
}

async function insertJobs(
  queue: SliceQueue,
  client: pg.ClientBase,
  { run, account, slots, rank }: JobPlan,
  slices: readonly { readonly slice: number; readonly job: string }[],
  startAfter = 0,
): Promise<void> {
  if (slices.length === 0) return;
  const jobs = slices.map(({ slice, job }) => {
    const data: SliceJob = { run, slice };
    return { id: job, data, group: { id: account, tier: String(slots) }, priority: rank, startAfter };
  });
  await queue.insert(queueName, jobs, { db: throughClient(client) });
  if (startAfter === 0) await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
}

/** Puts a slice that was just taken out of the queue back, with a job that nobody takes for so many seconds. */
export async function requeueLater(
  queue: SliceQueue,
  client: pg.ClientBase,
  plan: JobPlan,
  taken: { readonly slice: number; readonly job: string },
  seconds: number,
): Promise<void> {
  const { rows } = await client.query<{ slice: number; job: string }>(
    `
    UPDATE slices
    SET state = 'queued', job = gen_random_uuid(), worker = NULL, owner = NULL
    WHERE run_id = $1 AND slice = $2
    RETURNING slice, job
    `,
    [plan.run, taken.slice],
  );
  await queue.deleteJob(queueName, taken.job, { db: throughClient(client) });
  await insertJobs(queue, client, plan, rows, seconds);
}

/** Takes the slices of a run that wait for a worker out of the queue. */
export async function dequeueSlices(queue: SliceQueue, client: pg.ClientBase, run: string): Promise<void> {
  const { rows } = await client.query<{ job: string }>(
    `
    UPDATE slices s
    SET state = 'waiting', job = NULL
    FROM (SELECT slice, job FROM slices WHERE run_id = $1 AND state = 'queued') was
    WHERE s.run_id = $1 AND s.slice = was.slice
    RETURNING was.job
    `,
    [run],
  );
  const jobs = rows.map(({ job }) => job);
  if (jobs.length > 0) await queue.deleteJob(queueName, jobs, { db: throughClient(client) });
}
