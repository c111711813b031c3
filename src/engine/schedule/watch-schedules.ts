import { resolve } from 'node:path';
import { formatReason } from '../../domain/reasons.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { checkPeriodically, type WatchOptions } from './check-periodically.ts';
import { recordSchedules } from './record-schedules.ts';
import { readScheduleFolder } from './schedule-folder.ts';
import { beginPlannedRuns, type CampaignSource, startDueTicks, type TickResult } from './start-ticks.ts';

/** The longest delay of a run (milliseconds). */
export const defaultInterval = 5_000;

/** Logs failures and tries again. Any number of processes may run it. */
export async function watchSchedules(
  context: EngineContext,
  source: CampaignSource,
  options: WatchOptions,
): Promise<void> {
  const { logger } = options;
  const folder = resolve(source.settings.workingFolder, source.folder);
  /** Logs each problem once, not every few seconds. */
  let loggedProblems = '';
  await checkPeriodically(context, 'schedules', options, async () => {
    const read = await readScheduleFolder(folder);
    await recordSchedules(context, read);
    const problems = JSON.stringify(read.unreadable);
    if (problems !== loggedProblems)
      for (const problem of read.unreadable) logger.error(problem, 'schedule unreadable');
    loggedProblems = problems;
    await startDueTicks(
      context,
      source,
      (end) => logTick(end, logger),
      (file) => logger.warn(file, 'contact file not moved; it will not run again'),
    );
    for (const run of await beginPlannedRuns(context, source)) logger.info({ run }, 'scheduled run started');
  });
}

/** The reason may quote contacts, so it stays in the ledger. */
function logTick(end: TickResult, logger: Logger): void {
  const { schedule, dueAt } = end;
  if (end.kind === 'started') {
    logger.info({ schedule, dueAt, run: end.run }, 'scheduled run planned');
    return;
  }
  const reason = formatReason(end.reason);
  if (end.kind !== 'failed') {
    logger.warn({ schedule, dueAt, reason }, `scheduled run ${end.kind}`);
    return;
  }
  logger.error({ schedule, dueAt }, 'scheduled run failed; `volley schedule list` shows the reason');
  logger.debug({ schedule, dueAt, reason }, 'reason of the failed scheduled run');
}
