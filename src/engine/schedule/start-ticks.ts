import { join } from 'node:path';
import { storedSchedule } from '../../campaign/schedule.ts';
import type { Actor } from '../../domain/access.ts';
import { InputError, type RefusedRun, RefusedRunError } from '../../domain/problems.ts';
import type { TickReason } from '../../domain/reasons.ts';
import {
  type DueTick,
  endTick,
  listDueTicks,
  listUnstartedRuns,
  startTick,
} from '../../ledger/schedules/ticks.ts';
import type { AccountNamed, EngineContext } from '../context.ts';
import { NothingNewError, type UnmovedFile } from '../plan/contact-patterns.ts';
import { startCampaign } from '../plan/start-campaign.ts';
import { auditStart, beginPlannedRun } from '../runs/begin-run.ts';
import type { Settings } from '../settings.ts';
import { isLate, toMissedReason } from './record-schedules.ts';
import { startEach } from './start-each.ts';

export type TickResult = Pick<DueTick, 'schedule' | 'dueAt'> &
  (
    | { readonly kind: 'started'; readonly run: string }
    | { readonly kind: 'skipped' | 'missed' | 'failed'; readonly reason: TickReason }
  );

export type CampaignSource = {
  /** Relative to the working folder. */
  readonly folder: string;
  readonly settings: Settings;
  readonly accountNamed: AccountNamed;
};

/**
 * Plans the runs of due ticks, one process at a time per schedule. A tick has at most one run: both are committed
 * together.
 *
 * @param onUnmoved called for contact files that could not be moved
 */
export async function startDueTicks(
  context: EngineContext,
  source: CampaignSource,
  onEnd: (end: TickResult) => void,
  onUnmoved: (file: UnmovedFile) => void = () => undefined,
): Promise<void> {
  const { pool } = context.ledger;
  await startEach(pool, {
    list: () => listDueTicks(pool),
    nameOf: ({ schedule }) => `volley schedule ${schedule}`,
    start: (tick) => startOrEndTick(context, source, tick, onUnmoved),
    onEnd,
  });
}

async function startOrEndTick(
  context: EngineContext,
  source: CampaignSource,
  tick: DueTick,
  onUnmoved: (file: UnmovedFile) => void,
): Promise<TickResult | undefined> {
  const times = storedSchedule.parse(tick.times);
  const { schedule, dueAt, unfinishedRun } = tick;
  const end = async (
    kind: 'skipped' | 'missed' | 'failed',
    reason: TickReason,
    refused?: RefusedRun,
  ): Promise<TickResult> => {
    await endTick(context.ledger.pool, tick, { state: kind, reason, refused });
    return { kind, reason, schedule, dueAt };
  };
  if (unfinishedRun !== null && times.overlap === 'skip')
    return end('skipped', { kind: 'run_not_over', run: unfinishedRun });
  // A queued tick waits for the earlier run, however late.
  if (unfinishedRun !== null) return undefined;
  if (times.overlap === 'skip' && isLate(times, dueAt, context.now()))
    return end('missed', toMissedReason(times));
  try {
    const run = await planTick(context, source, tick, onUnmoved);
    return run === undefined ? undefined : { kind: 'started', run, schedule, dueAt };
  } catch (error) {
    if (error instanceof NothingNewError) return end('skipped', error.message);
    if (error instanceof RefusedRunError) return end('failed', error.message, error.refused);
    if (error instanceof InputError) return end('failed', error.message);
    throw error;
  }
}

/** @returns undefined when the tick already has a run */
async function planTick(
  context: EngineContext,
  { folder, settings }: CampaignSource,
  tick: DueTick,
  onUnmoved: (file: UnmovedFile) => void,
): Promise<string | undefined> {
  const actor: Actor = { name: `schedule ${tick.schedule}`, via: 'schedule', token: null };
  const alreadyStarted = new AbortController();
  try {
    const path = join(folder, tick.schedule);
    const { run, unmoved } = await startCampaign({ ...context, actor }, { path, settings }, () => ({
      // The tick's result reports it.
      onRefused: async () => undefined,
      // The tick itself ensures one run.
      again: true,
      alongside: async (client, planned) => {
        if (await startTick(client, tick, planned)) return;
        alreadyStarted.abort();
        throw new Error('the tick has a run');
      },
    }));
    for (const file of unmoved) onUnmoved(file);
    return run;
  } catch (error) {
    if (alreadyStarted.signal.aborted) return undefined;
    throw error;
  }
}

/** Starts planned runs of schedules, of the API and the dashboard, also those whose process ended after planning. */
export async function beginPlannedRuns(
  context: EngineContext,
  { accountNamed }: CampaignSource,
): Promise<string[]> {
  const begun: string[] = [];
  for (const { run, plannedBy } of await listUnstartedRuns(context.ledger.pool)) {
    const addAuditEntry = auditStart({ ...context, actor: plannedBy }, run);
    if (await beginPlannedRun(context, run, accountNamed, addAuditEntry)) begun.push(run);
  }
  return begun;
}
