import { drainDeadlines } from '../../engine/dispatch/drain.ts';
import { noObserver } from '../../engine/dispatch/observer.ts';
import { openLogger } from '../../platform/logger.ts';
import { drainText } from '../dispatch-and-print.ts';
import { leaveAfter } from '../leave-after.ts';
import { openPlanner } from '../planner/planner.ts';
import { type Shell, withLedger } from '../shell.ts';
import { workUntilStopped } from '../work-until-stopped.ts';

export type WorkerOptions = { readonly campaigns: string; readonly schedules: boolean };

export async function workerAction(shell: Shell, options: WorkerOptions): Promise<void> {
  const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'info');
  await withLedger(shell, async (context) => {
    shell.drainOnStop(() => drainText());
    const { stop } = shell;
    const deadlines = drainDeadlines(stop);
    leaveAfter(deadlines.giveUp, shell, logger);
    const planner = openPlanner(context, shell.settings, options.campaigns, logger);
    const tools = { logger, observer: noObserver, stop, deadlines, planner };
    try {
      await workUntilStopped(shell, context, { worker: true, ...options }, tools);
    } finally {
      await planner.close();
      deadlines.clear();
    }
  });
}
