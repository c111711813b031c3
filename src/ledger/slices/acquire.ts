import type pg from 'pg';
import { z } from 'zod';
import type { Channel } from '../../domain/message.ts';
import type { Priority, RunState } from '../../domain/runs.ts';
import { doubtOrphanedRequests, type SliceRange } from '../requests/orphans.ts';
import { addLostRows } from '../requests/rows.ts';
import { markBegun } from '../run-states/transitions.ts';
import { inTransaction } from '../session.ts';
import { mostSlots, requeueLater, type SliceJob } from './enqueue.ts';
import { isOvertaken, rankOf } from './priority.ts';
import { lockTakings, queueName, type SliceQueue, throughClient } from './queue.ts';
import { findWindow, type SliceWindow } from './windows.ts';

/** A slice that this worker alone may send from. */
export type HeldSlice = SliceRange & {
  /** New with every holding; what is claimed and settled under it is fenced by it. */
  readonly owner: string;
  /** Requests up to this one, as far as they have no rows of their own, may have been sent before. */
  readonly claimedTo: number;
  /** The number of the last change of the slice; its owner's next one is one more. */
  readonly version: number;
  /** The job in the queue, and which taking of it this is. */
  readonly job: { readonly id: string; readonly retryCount: number };
  readonly account: string;
  readonly channel: Channel;
  /** As it was frozen when the run was planned; `engine` parses it. */
  readonly definition: unknown;
  /** Null where it may be sent at any time. */
  readonly window: SliceWindow | null;
};

export type Acquisition =
  | { readonly kind: 'held'; readonly slice: HeldSlice }
  /** A job without a slice, which is gone now; there may be others. */
  | { readonly kind: 'stale' }
  /** One of a run that more urgent ones go before; it is in the queue again, for later. */
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'none' };

type DbSlice = {
  readonly run_state: RunState;
  readonly first_request: number;
  readonly last_request: number;
  readonly claimed_to: number;
  readonly version: number;
  /** Of the holder from whom it was taken over. */
  readonly former_owner: string | null;
  readonly account: string;
  readonly channel: Channel;
  readonly definition: unknown;
  readonly window_place: number | null;
  readonly priority: number;
  readonly overtaken: boolean;
};

/** A run that was overtaken is looked at again so often (seconds). */
const overtakenWait = 1;

/** By how many slices an account allows at once; the jobs say which it is. */
const tiers = Object.fromEntries(
  Array.from({ length: mostSlots }, (_, index) => [String(index + 1), index + 1]),
);

/**
 * Takes the next slice from the queue. In one transaction: the job becomes this worker's, the slice is held, its run is
 * running, and what an earlier holder left in the middle of sending is in doubt (rule 2). Takings are one after the
 * other over the fleet.
 *
 * @param ignoredAccounts accounts that this process does not have
 * @param leastPriority only slices of runs that are at least so urgent
 */
export async function acquireSlice(
  queue: SliceQueue,
  pool: pg.Pool,
  taking: {
    readonly worker: string;
    readonly owner: string;
    readonly ignoredAccounts: readonly string[];
    readonly leastPriority?: Priority;
    /** Asked when the slice is held: until then an earlier holder may have begun more. */
    readonly now: () => Date;
  },
): Promise<Acquisition> {
  return inTransaction(pool, async (client) => {
    const db = throughClient(client);
    await lockTakings(client);
    const [job] = await queue.fetch<SliceJob>(queueName, {
      db,
      groupConcurrency: { default: 1, tiers },
      ignoreGroups: [...taking.ignoredAccounts],
      minPriority: rankOf(taking.leastPriority ?? 'bulk'),
    });
    if (!job) return { kind: 'none' };
    const { run, slice } = job.data;
    const { rows } = await client.query<DbSlice>(
      `
      WITH former AS MATERIALIZED (
        SELECT owner AS former_owner FROM slices WHERE run_id = $1 AND slice = $2 FOR UPDATE
      )
      UPDATE slices s
      SET state = 'held', worker = $4, owner = $5
      FROM runs r, former f
      WHERE s.run_id = $1 AND s.slice = $2 AND s.job = $3 AND s.state IN ('queued', 'held') AND r.run_id = s.run_id
      RETURNING r.state AS run_state, first_request, last_request, claimed_to, version, f.former_owner, account, channel, definition,
                window_place, priority,
                ${isOvertaken('r')} AS overtaken
      `,
      [run, slice, job.id, taking.worker, taking.owner],
    );
    const [row] = rows;
    if (!row) {
      await queue.complete(queueName, job.id, null, { db });
      return { kind: 'stale' };
    }
    if (row.run_state === 'planned') await markBegun(client, run);
    const range = { run, slice, first: row.first_request, last: row.last_request };
    if (row.former_owner !== null) await addLostRows(client, range, row.former_owner);
    await doubtOrphanedRequests(client, range, taking.now());
    if (row.overtaken) {
      const slots = (job.groupTier && tiers[job.groupTier]) || 1;
      const plan = { run, account: row.account, slots, rank: row.priority };
      await requeueLater(queue, client, plan, { slice, job: job.id }, overtakenWait);
      return { kind: 'overtaken' };
    }
    return {
      kind: 'held',
      slice: {
        ...range,
        owner: taking.owner,
        claimedTo: row.claimed_to,
        version: row.version,
        job: { id: job.id, retryCount: job.retryCount },
        account: row.account,
        channel: row.channel,
        definition: row.definition,
        window: row.window_place === null ? null : await findWindow(client, run, row.window_place),
      },
    };
  });
}

/** What pg-boss answers, of which its types say nothing. */
const touched = z.object({ settled: z.array(z.string()).nullish() });

/**
 * A sign of life for slices.
 *
 * @returns the jobs that are still this worker's
 */
export async function touchSlices(
  queue: SliceQueue,
  jobs: readonly HeldSlice['job'][],
): Promise<readonly string[]> {
  const { settled } = touched.parse(await queue.touch(queueName, [...jobs]));
  return settled ?? [];
}
