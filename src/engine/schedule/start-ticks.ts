import { join } from 'node:path';
import { writtenSchedule } from '../../campaign/schedule.ts';
import type { Actor } from '../../domain/access.ts';
import { InputError, type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import type { TickReason } from '../../domain/reasons.ts';
import type { Account } from '../../gateway/account.ts';
import {
  type DueTick,
  endTick,
  listDueTicks,
  listUnstartedRuns,
  startTick,
  tryScheduleLock,
} from '../../ledger/schedules/ticks.ts';
import { inSession } from '../../ledger/session.ts';
import type { EngineContext } from '../context.ts';
import {
  filesRanBefore,
  moveContactFiles,
  NothingNewError,
  type StuckFile,
} from '../plan/contact-patterns.ts';
import { keepContactFiles } from '../plan/kept-files.ts';
import { planRun } from '../plan/plan-run.ts';
import { prepareCampaign } from '../plan/prepare.ts';
import { beginPlanned, noteBegun } from '../runs/begin-run.ts';
import type { Settings } from '../settings.ts';
import { isLate, missedReason } from './note-ticks.ts';

export type TickEnd = Pick<DueTick, 'schedule' | 'dueAt'> &
  (
    | { readonly kind: 'started'; readonly run: string }
    | { readonly kind: 'skipped' | 'missed' | 'failed'; readonly reason: TickReason }
  );

export type SchedulePlace = {
  /** Of the campaigns, relative to the working folder. */
  readonly folder: string;
  readonly settings: Settings;
  /** @throws InputError for an account that this process does not have */
  readonly accountNamed: (name: string) => Promise<Account>;
};

/**
 * Makes the runs of all ticks that are due, one schedule after the other, and has them sent. Of a schedule, only one
 * process starts ticks at a time; that a tick has one run is certain even so, because both are committed together.
 *
 * @param onStuck a contact file that could not be moved out of the way; it is not read again all the same
 */
export async function startDueTicks(
  context: EngineContext,
  place: SchedulePlace,
  onEnd: (end: TickEnd) => void,
  onStuck: (stuck: StuckFile) => void = () => undefined,
): Promise<void> {
  for (const { schedule } of await listDueTicks(context.ledger.pool)) {
    const end = await inSession(context.ledger.pool, async (client) => {
      if (!(await tryScheduleLock(client, schedule))) return undefined;
      try {
        // Another one may have started it before the lock was ours.
        const tick = (await listDueTicks(context.ledger.pool)).find((due) => due.schedule === schedule);
        return tick && (await startOrEnd(context, place, tick, onStuck));
      } finally {
        await client.query('SELECT pg_advisory_unlock_all()');
      }
    });
    if (end) onEnd(end);
  }
}

async function startOrEnd(
  context: EngineContext,
  place: SchedulePlace,
  tick: DueTick,
  onStuck: (stuck: StuckFile) => void,
): Promise<TickEnd | undefined> {
  const times = writtenSchedule.parse(tick.times);
  const { schedule, dueAt, lastRun } = tick;
  const end = async (
    kind: 'skipped' | 'missed' | 'failed',
    reason: TickReason,
    refused?: RefusedRun,
  ): Promise<TickEnd> => {
    await endTick(context.ledger.pool, tick, kind, reason, refused);
    return { kind, reason, schedule, dueAt };
  };
  if (lastRun !== null && times.overlap === 'skip')
    return end('skipped', { kind: 'run_not_over', run: lastRun });
  // What is queued waits for its run, not for a worker.
  if (lastRun !== null) return undefined;
  if (times.overlap === 'skip' && isLate(times, dueAt, context.now()))
    return end('missed', missedReason(times));
  try {
    const run = await planTick(context, place, tick, onStuck);
    return run === undefined ? undefined : { kind: 'started', run, schedule, dueAt };
  } catch (error) {
    if (error instanceof NothingNewError) return end('skipped', error.message);
    if (error instanceof RefusedRunError) return end('failed', error.message, error.refused);
    if (error instanceof InputError) return end('failed', error.message);
    throw error;
  }
}

/** @returns undefined when the tick has its run already */
async function planTick(
  context: EngineContext,
  { folder, settings }: SchedulePlace,
  tick: DueTick,
  onStuck: (stuck: StuckFile) => void,
): Promise<string | undefined> {
  const kept = keepContactFiles();
  const path = join(folder, tick.schedule);
  const prepared = await prepareCampaign(path, settings, { kept, ranBefore: filesRanBefore(context) });
  const taken = new AbortController();
  try {
    const actor = actorOf({ schedule: tick.schedule });
    const run = await planRun(
      { ...context, actor },
      prepared,
      kept,
      { onRead: () => undefined, onExpand: () => undefined },
      {
        // The end of the tick reports it.
        onRefused: async () => undefined,
        // That a time has one run is kept by the tick itself.
        again: true,
        alongside: async (client, planned) => {
          if (await startTick(client, tick, planned)) return;
          taken.abort();
          throw new Error('the tick has a run');
        },
      },
    );
    for (const stuck of await moveContactFiles(prepared, path, settings, run)) onStuck(stuck);
    return run;
  } catch (error) {
    if (taken.signal.aborted) return undefined;
    throw error;
  }
}

/** Has the runs of ticks sent, also those whose process has died between. */
export async function beginScheduledRuns(
  context: EngineContext,
  { accountNamed }: SchedulePlace,
): Promise<string[]> {
  const begun: string[] = [];
  for (const { run, ...madeBy } of await listUnstartedRuns(context.ledger.pool)) {
    const note = noteBegun({ ...context, actor: actorOf(madeBy) }, run);
    if (await beginPlanned(context, run, accountNamed, note)) begun.push(run);
  }
  return begun;
}

function actorOf(
  madeBy:
    | { readonly schedule: string }
    | { readonly schedule: null; readonly owner: string; readonly token: string },
): Actor {
  if (madeBy.schedule !== null) return { name: `schedule ${madeBy.schedule}`, via: 'schedule', token: null };
  return { name: madeBy.owner, via: 'api', token: madeBy.token };
}
