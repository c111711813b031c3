import type pg from 'pg';
import { z } from 'zod';
import type { Channel } from '../../domain/message.ts';
import type { Priority, RunState } from '../../domain/runs.ts';
import { markUnrecordedInDoubt } from '../requests/doubt.ts';
import { markBegun } from '../run-states/transitions.ts';
import { inTransaction, type Transaction } from '../session.ts';
import {
  type AcquiredSlice,
  markHeld,
  type OwnedSlice,
  recordOwner,
  type SliceKey,
} from '../slice-states/transitions.ts';
import { accountSlicesLimit, isPreempted, rankOf, requeueLater } from './enqueue.ts';
import { lockAcquisitions, queueDb, queueName, type SliceQueue } from './queue.ts';
import { findWindow, type SliceWindow } from './windows.ts';

/** Its owner is new with each acquisition, and fences claims and outcomes. */
type AcquiredJob = OwnedSlice & {
  readonly job: { readonly id: string; readonly retryCount: number };
  readonly account: string;
  readonly channel: Channel;
  /** As planned; `engine` parses it. */
  readonly definition: unknown;
};

/** A slice that only this worker sends from. */
export type SendingSlice = AcquiredJob &
  Omit<Extract<AcquiredSlice, { phase: 'sending' }>, 'windowIndex' | 'formerOwner'> & {
    /** Null if it can be sent at any time. */
    readonly window: SliceWindow | null;
  };

/** The phase that settles requests in doubt, by one worker. */
export type DoubtsSlice = AcquiredJob & { readonly phase: 'settling doubts' };

export type HeldSlice = SendingSlice | DoubtsSlice;

export type Acquisition =
  | { readonly kind: 'held'; readonly slice: HeldSlice }
  /** The job had no slice and was deleted; there may be others. */
  | { readonly kind: 'stale' }
  /** A more urgent run goes first; the slice was queued again. */
  | { readonly kind: 'preempted' }
  | { readonly kind: 'none' };

type DbRun = Pick<AcquiredJob, 'account' | 'channel' | 'definition'> & {
  readonly state: RunState;
  readonly priority: number;
  readonly preempted: boolean;
};

/** Seconds until a preempted slice can be acquired again. */
const preemptedWait = 1;

/** The tiers of pg-boss, by `maxAccountSlices`. */
const tiers = Object.fromEntries(
  Array.from({ length: accountSlicesLimit }, (_, index) => [String(index + 1), index + 1]),
);

/**
 * In one transaction the worker gets the next job and slice, the run becomes running, and requests that an expired
 * owner was sending become in doubt (rule 2a). The fleet acquires one slice at a time. If the answer is lost,
 * `returnSlice` gives back what was committed.
 *
 * @param ignoredAccounts that this process does not have
 */
export async function acquireSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  acquisition: {
    readonly worker: string;
    readonly owner: string;
    readonly ignoredAccounts: readonly string[];
    readonly minPriority?: Priority;
    /** Called once the slice is held: until then a former owner can begin attempts. */
    readonly now: () => Date;
  },
): Promise<Acquisition> {
  return inTransaction(pool, async (client) => {
    const db = queueDb(client);
    await lockAcquisitions(client);
    const [job] = await queue.fetch<SliceKey>(queueName, {
      db,
      groupConcurrency: { default: 1, tiers },
      ignoreGroups: [...acquisition.ignoredAccounts],
      minPriority: rankOf(acquisition.minPriority ?? 'bulk'),
    });
    if (!job) return { kind: 'none' };
    const { run, slice } = job.data;
    const { worker, owner } = acquisition;
    const found = await findRun(client, run);
    const row = found && (await markHeld(client, { run, slice, job: job.id, worker, owner }));
    if (!row) {
      await queue.complete(queueName, job.id, null, { db });
      return { kind: 'stale' };
    }
    if (found.state === 'planned') await markBegun(client, run);
    if (row.phase === 'sending' && row.formerOwner !== null)
      await markUnrecordedInDoubt(client, { run, slice, ...row }, row.formerOwner, acquisition.now());
    const { account, channel, definition, priority, preempted } = found;
    if (preempted) {
      const maxAccountSlices = (job.groupTier && tiers[job.groupTier]) || 1;
      const plan = { run, account, maxAccountSlices, rank: priority };
      await requeueLater(queue, client, plan, { former: { slice, job: job.id }, seconds: preemptedWait });
      return { kind: 'preempted' };
    }
    await recordOwner(client, { run, slice, owner, version: row.version });
    const acquired = { id: job.id, retryCount: job.retryCount };
    const held = { run, slice, owner, job: acquired, account, channel, definition };
    if (row.phase === 'settling doubts') return { kind: 'held', slice: { ...held, phase: row.phase } };
    const { formerOwner: _, windowIndex, ...range } = row;
    const window = windowIndex === null ? null : await findWindow(client, run, windowIndex);
    return { kind: 'held', slice: { ...held, ...range, window } };
  });
}

async function findRun(client: Transaction, run: string): Promise<DbRun | undefined> {
  const { rows } = await client.query<DbRun>(
    `
    SELECT state, account, channel, definition, priority, ${isPreempted('r')} AS preempted
    FROM runs r
    WHERE run_id = $1
    `,
    [run],
  );
  return rows[0];
}

/** Missing from the types of pg-boss. */
const touchAnswer = z.object({ settled: z.array(z.string()).nullish() });

/** @returns the jobs that the worker still owns */
export async function renewLeases(
  queue: SliceQueue,
  jobs: readonly HeldSlice['job'][],
  client?: Transaction,
): Promise<readonly string[]> {
  const { settled } = touchAnswer.parse(
    await queue.touch(queueName, [...jobs], client && { db: queueDb(client) }),
  );
  return settled ?? [];
}
