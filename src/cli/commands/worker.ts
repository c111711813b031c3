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
      'Helps to send whatever runs there are, from any machine with the same DATABASE_URL and accounts, until it is stopped; and begins those of campaigns whose time has come (volley schedule), and tells what became of runs (notify). Ctrl-C drains: what is on its way is recorded, and the rest is left to other workers.',
    )
    .addOption(campaignsOption(shell))
    .option('--no-schedules', 'begin nothing; only help to send')
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
