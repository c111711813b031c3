import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatReason } from '../../domain/reasons.ts';
import { loggableReason } from '../../platform/database-failures.ts';
import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import { checkLedgerLocation } from '../dispatch/ledger-location.ts';
import { decideWinners } from './decide-winners.ts';
import { recordSchedules } from './record-schedules.ts';
import { readScheduleFolder } from './schedule-folder.ts';
import { type StartedRest, startRests } from './start-rests.ts';
import { beginPlannedRuns, type CampaignSource, startDueTicks, type TickResult } from './start-ticks.ts';

/** The longest delay of a run (milliseconds). */
export const defaultInterval = 5_000;

export type WatchOptions = {
  /** Milliseconds. */
  readonly every: number;
  readonly logger: Logger;
  readonly stop: AbortSignal;
};

/** Logs failures and tries again. Any number of processes may run it. */
export async function watchSchedules(
  context: EngineContext,
  source: CampaignSource,
  { every, logger, stop }: WatchOptions,
): Promise<void> {
  const folder = resolve(source.settings.workingFolder, source.folder);
  /** Logs each problem once, not every few seconds. */
  let loggedProblems = '';
  let loggedFailure = '';
  while (!stop.aborted) {
    try {
      // The former ledger may already have sent what is due here.
      const { onHold } = await checkLedgerLocation(context);
      if (onHold !== null) throw new Error(`the ledger is on hold: ${onHold}`);
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
      for (const run of await beginPlannedRuns(context, source))
        logger.info({ run }, 'scheduled run started');
      for (const decided of await decideWinners(context))
        logger.info(decided, 'winner of the variants decided');
      await startRests(context, source.settings, (end) => logRest(end, logger));
      loggedFailure = '';
    } catch (error) {
      const reason = loggableReason(error);
      if (reason !== loggedFailure) logger.error({ reason }, 'schedules not checked; trying again');
      loggedFailure = reason;
    }
    await sleep(every, undefined, { signal: stop }).catch(() => undefined);
  }
}

function logRest({ run, ...end }: StartedRest, logger: Logger): void {
  if (end.kind === 'planned') logger.info({ run, restRun: end.restRun }, 'rest of the run planned');
  else logger.error({ run }, 'rest of the run not planned; `volley status` shows the reason');
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
