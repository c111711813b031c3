import type { Logger } from '../../platform/logger.ts';
import type { EngineContext } from '../context.ts';
import type { Settings } from '../settings.ts';
import { checkPeriodically, type WatchOptions } from './check-periodically.ts';
import { decideWinners } from './decide-winners.ts';
import { type StartedRest, startRests } from './start-rests.ts';

/** Decides which variants win, and starts the runs that send them to the rest. Any number of processes may run it. */
export async function watchRests(
  context: EngineContext,
  settings: Settings,
  options: WatchOptions,
): Promise<void> {
  const { logger } = options;
  await checkPeriodically(context, 'winners of variants', options, async () => {
    for (const decided of await decideWinners(context))
      logger.info(decided, 'winner of the variants decided');
    await startRests(context, settings, (end) => logRest(end, logger));
  });
}

/** The problem may quote contacts, so it stays in the ledger. */
function logRest({ run, ...end }: StartedRest, logger: Logger): void {
  if (end.kind === 'planned') logger.info({ run, restRun: end.restRun }, 'rest of the run planned');
  else logger.error({ run }, 'rest of the run not planned; `volley status` shows the reason');
}
