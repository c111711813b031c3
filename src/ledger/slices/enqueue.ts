import { type Priority, priorities, type RunState } from '../../domain/runs.ts';
import { lockRun } from '../run-states/transitions.ts';
import type { Transaction } from '../session.ts';
import {
  markDequeued,
  markDoubtsQueued,
  markPostponed,
  markPromoted,
  markQueued,
  type SliceJobId,
  type SliceKey,
} from '../slice-states/transitions.ts';
import { queueDb, queueName, type SliceQueue, withAcquisitionsLocked } from './queue.ts';

export type SlicePlan = {
  readonly run: string;
  /** The group of its jobs. */
  readonly account: string;
  /** Slices of the account that the fleet can hold at once: 1 to `accountSlicesLimit`. */
  readonly maxAccountSlices: number;
  /** Slices of the run that can be queued or held at once. */
  readonly maxRunSlices: number;
  /** Whether the first slice must be done before another is queued. */
  readonly firstAlone: boolean;
  readonly priority: Priority;
};

export const accountSlicesLimit = 4;

export const wakeChannel = 'volley_wake';

type JobPlan = Pick<SlicePlan, 'run' | 'account' | 'maxAccountSlices'> & { readonly rank: number };

/**
 * Queues a run's next slices, few at a time, so that runs take turns. The caller holds the run, so that no other
 * transaction queues more.
 *
 * @returns how many were queued
 */
export async function enqueueSlices(
  queue: SliceQueue,
  client: Transaction,
  plan: SlicePlan,
): Promise<number> {
  const slices = await markQueued(client, plan);
  await insertJobs(queue, client, { ...plan, rank: rankOf(plan.priority) }, { slices });
  return slices.length;
}

/** Lets workers send what waited for the canary of a running run. The caller has locked it. */
export async function promoteSlices(queue: SliceQueue, client: Transaction, plan: SlicePlan): Promise<void> {
  await markPromoted(client, plan.run);
  await enqueueSlices(queue, client, plan);
}

/** Queues the phase that settles doubts, unless a worker holds it. */
export async function enqueueDoubts(
  queue: SliceQueue,
  client: Transaction,
  plan: Pick<SlicePlan, 'run' | 'account' | 'maxAccountSlices' | 'priority'>,
): Promise<void> {
  const slices = await markDoubtsQueued(client, plan.run);
  await insertJobs(queue, client, { ...plan, rank: rankOf(plan.priority) }, { slices });
}

async function insertJobs(
  queue: SliceQueue,
  client: Transaction,
  { run, account, maxAccountSlices, rank }: JobPlan,
  { slices, startAfter = 0 }: { readonly slices: readonly SliceJobId[]; readonly startAfter?: number },
): Promise<void> {
  if (slices.length === 0) return;
  const jobs = slices.map(({ slice, job }) => {
    const data: SliceKey = { run, slice };
    return {
      id: job,
      data,
      group: { id: account, tier: String(maxAccountSlices) },
      priority: rank,
      startAfter,
    };
  });
  await queue.insert(queueName, jobs, { db: queueDb(client) });
  if (startAfter === 0) await client.query(`SELECT pg_notify('${wakeChannel}', '')`);
}

/** Returns an acquired slice to the queue, under a new job that starts after `seconds`. */
export async function requeueLater(
  queue: SliceQueue,
  client: Transaction,
  plan: JobPlan,
  { former, seconds }: { readonly former: SliceJobId; readonly seconds: number },
): Promise<void> {
  const slices = await markPostponed(client, { run: plan.run, slice: former.slice });
  await queue.deleteJob(queueName, former.job, { db: queueDb(client) });
  await insertJobs(queue, client, plan, { slices, startAfter: seconds });
}

/**
 * Locks the run and dequeues its waiting slices, so that a long transaction does not block acquisitions of other runs.
 *
 * @returns undefined if there is no such run
 */
export async function lockAndDequeueRun(
  queue: SliceQueue,
  client: Transaction,
  run: string,
): Promise<RunState | undefined> {
  return withAcquisitionsLocked(client, async () => {
    const state = await lockRun(client, run);
    const jobs = (await markDequeued(client, run)).map(({ job }) => job);
    if (jobs.length > 0) await queue.deleteJob(queueName, jobs, { db: queueDb(client) });
    return state;
  });
}

/** Returns the number of a priority in the queue: normal is 0. */
export function rankOf(priority: Priority): number {
  return priorities.indexOf(priority) - priorities.indexOf('normal');
}

/** SQL: more urgent runs of the same account with queued or held slices. `run`: an alias. */
const preemptingRuns = (run: string): string => `
  FROM runs urgent
  WHERE urgent.account = ${run}.account AND urgent.priority > ${run}.priority
    AND urgent.state IN ('planned', 'running')
    AND EXISTS (
      SELECT FROM slices q
      WHERE q.run_id = urgent.run_id AND q.phase = 'sending' AND q.state IN ('queued', 'held')
    )`;

/** SQL: whether a more urgent run goes first. `run`: an alias. */
export const isPreempted = (run: string): string => `EXISTS (SELECT ${preemptingRuns(run)})`;

/** SQL: the most urgent run that goes first, and of several the oldest; null if there is none. `run`: an alias. */
export const preemptingRun = (run: string): string => `(
    SELECT urgent.run_id ${preemptingRuns(run)}
    ORDER BY urgent.priority DESC, urgent.created_at
    LIMIT 1
  )`;
