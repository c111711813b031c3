import type pg from 'pg';
import { z } from 'zod';
import type { Channel } from '../../domain/message.ts';
import type { Priority, RunState } from '../../domain/runs.ts';
import { markUnrecordedInDoubt } from '../requests/mark-unrecorded-in-doubt.ts';
import type { SliceRange } from '../requests/slice-range.ts';
import { markBegun } from '../run-states/transitions.ts';
import { inTransaction, type Transaction } from '../session.ts';
import { type DbAcquiredSlice, markHeld, recordOwner } from '../slice-states/transitions.ts';
import { accountSlicesLimit, requeueLater, type SliceJob } from './enqueue.ts';
import { isPreempted, rankOf } from './priority.ts';
import { lockAcquisitions, queueDb, queueName, type SliceQueue } from './queue.ts';
import { findWindow, type SliceWindow } from './windows.ts';

type AcquiredJob = {
  readonly run: string;
  readonly slice: number;
  /** New with every holding; what is claimed and settled under it is fenced by it. */
  readonly owner: string;
  /** The job in the queue, and which taking of it this is. */
  readonly job: { readonly id: string; readonly retryCount: number };
  readonly account: string;
  readonly channel: Channel;
  /** As it was frozen when the run was planned; `engine` parses it. */
  readonly definition: unknown;
};

/** A slice that this worker alone may send from. */
export type SendingSlice = AcquiredJob &
  SliceRange & {
    readonly phase: 'sending';
    /** Requests up to this one, as far as they have no rows of their own, may have been sent before. */
    readonly claimedTo: number;
    /** The number of the last change of the slice; its owner's next one is one more. */
    readonly version: number;
    /** Null where it may be sent at any time. */
    readonly window: SliceWindow | null;
  };

/** The phase of a run in which its requests in doubt are settled, by this worker alone. */
export type DoubtsSlice = AcquiredJob & { readonly phase: 'settling doubts' };

export type HeldSlice = SendingSlice | DoubtsSlice;

export type Acquisition =
  | { readonly kind: 'held'; readonly slice: HeldSlice }
  /** A job without a slice, which is gone now; there may be others. */
  | { readonly kind: 'stale' }
  /** One of a run that more urgent ones go before; it is in the queue again, for later. */
  | { readonly kind: 'preempted' }
  | { readonly kind: 'none' };

type DbRun = Pick<AcquiredJob, 'account' | 'channel' | 'definition'> & {
  readonly state: RunState;
  readonly priority: number;
  readonly preempted: boolean;
};

/** A run that was overtaken is looked at again so often (seconds). */
const preemptedWait = 1;

/** By how many slices an account allows at once; the jobs say which it is. */
const tiers = Object.fromEntries(
  Array.from({ length: accountSlicesLimit }, (_, index) => [String(index + 1), index + 1]),
);

/**
 * Takes the next slice from the queue. In one transaction: the job becomes this worker's, the slice is held, its run is
 * running, and what a former owner whose lease has expired left in the middle of sending is in doubt (rule 2). Takings are
 * one after the other over the fleet.
 *
 * Where the answer was lost though it was committed, the same owner takes the same slice.
 *
 * @param ignoredAccounts accounts that this process does not have
 * @param leastPriority only slices of runs that are at least so urgent
 */
export async function acquireSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  acquisition: {
    readonly worker: string;
    readonly owner: string;
    /** It was asked for this owner before, and no answer came. */
    readonly isRepeated?: boolean;
    readonly ignoredAccounts: readonly string[];
    readonly leastPriority?: Priority;
    /** Asked when the slice is held: until then a former owner may have begun more. */
    readonly now: () => Date;
  },
): Promise<Acquisition> {
  return inTransaction(pool, async (client) => {
    const db = queueDb(client);
    // Waits for the end of the one whose answer was lost, too.
    await lockAcquisitions(client);
    const known = acquisition.isRepeated ? await findAcquired(queue, client, acquisition) : undefined;
    if (known) return { kind: 'held', slice: known };
    const [job] = await queue.fetch<SliceJob>(queueName, {
      db,
      groupConcurrency: { default: 1, tiers },
      ignoreGroups: [...acquisition.ignoredAccounts],
      minPriority: rankOf(acquisition.leastPriority ?? 'bulk'),
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
    const range = rangeOf(row);
    if (range && row.former_owner !== null) {
      await markUnrecordedInDoubt(client, { run, slice, ...range }, row.former_owner, acquisition.now());
    }
    const { account, channel, definition, priority, preempted } = found;
    if (preempted) {
      const maxAccountSlices = (job.groupTier && tiers[job.groupTier]) || 1;
      const plan = { run, account, maxAccountSlices, rank: priority };
      await requeueLater(queue, client, plan, { slice, job: job.id }, preemptedWait);
      return { kind: 'preempted' };
    }
    await recordOwner(client, { run, slice, owner, version: row.version });
    const taken = { id: job.id, retryCount: job.retryCount };
    const held = { run, slice, owner, job: taken, account, channel, definition };
    return { kind: 'held', slice: await toHeldSlice(client, held, row) };
  });
}

type DbReacquiredSlice = Omit<DbAcquiredSlice, 'former_owner'> &
  Pick<AcquiredJob, 'run' | 'slice' | 'account' | 'channel' | 'definition'> & { readonly job: string };

/** A slice that this worker has taken as this owner, and was not told so; its lease is renewed. */
async function findAcquired(
  queue: SliceQueue,
  client: Transaction,
  { worker, owner }: { readonly worker: string; readonly owner: string },
): Promise<HeldSlice | undefined> {
  const { rows } = await client.query<DbReacquiredSlice>(
    `
    SELECT s.run_id AS run, s.slice, s.job, s.phase, s.first_request, s.last_request, s.claimed_to, s.version,
           s.window_index, r.account, r.channel, r.definition
    FROM slices s
    JOIN runs r USING (run_id)
    WHERE s.state = 'held' AND s.worker = $1 AND s.owner = $2
    `,
    [worker, owner],
  );
  const [row] = rows;
  const job = row && (await queue.getJobById(queueName, row.job, { db: queueDb(client) }));
  if (!job) return undefined;
  const { run, slice, account, channel, definition } = row;
  const taken = { id: job.id, retryCount: job.retryCount };
  if (!(await renewLeases(queue, [taken], client)).includes(job.id)) return undefined;
  return toHeldSlice(client, { run, slice, owner, job: taken, account, channel, definition }, row);
}

async function toHeldSlice(
  client: Transaction,
  held: AcquiredJob,
  row: Omit<DbAcquiredSlice, 'former_owner'>,
): Promise<HeldSlice> {
  const range = rangeOf(row);
  if (!range) return { ...held, phase: 'settling doubts' };
  const { version, window_index: windowIndex } = row;
  const window = windowIndex === null ? null : await findWindow(client, held.run, windowIndex);
  return { ...held, ...range, phase: 'sending', version, window };
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

/** @returns undefined of the phase that has no requests of its own */
function rangeOf(
  row: Omit<DbAcquiredSlice, 'former_owner'>,
): Pick<SendingSlice, 'first' | 'last' | 'claimedTo'> | undefined {
  const { first_request: first, last_request: last, claimed_to: claimedTo } = row;
  return first === null || last === null || claimedTo === null ? undefined : { first, last, claimedTo };
}

/** What pg-boss answers, of which its types say nothing. */
const touchAnswer = z.object({ settled: z.array(z.string()).nullish() });

/** Renews the leases of slices. @returns the jobs that are still this worker's */
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
