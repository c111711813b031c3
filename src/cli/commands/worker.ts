import type { Command } from 'commander';
import { drainDeadlines } from '../../engine/dispatch/drain.ts';
import { noObserver } from '../../engine/dispatch/observer.ts';
import { openLogger } from '../../platform/logger.ts';
import { drainText } from '../dispatch-and-print.ts';
import { leaveAfter } from '../leave-after.ts';
import { campaignsOption } from '../options.ts';
import { openPlanner } from '../planner/planner.ts';
import { type Shell, withLedger } from '../shell.ts';
import { workUntilStopped } from '../work-until-stopped.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Helps to send all runs until it is stopped, from any machine with the same DATABASE_URL and accounts. Also starts scheduled campaigns (volley schedule) and sends notifications. Ctrl-C drains: the worker records the answers to requests in flight, and leaves the rest to other workers.',
    )
    .addOption(campaignsOption(shell))
    .option('--no-schedules', 'start no scheduled campaigns')
    .action(async (options: WorkerOptions) => {
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
    });
}

type WorkerOptions = { readonly campaigns: string; readonly schedules: boolean };
