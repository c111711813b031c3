import { defineCommand, flag } from '../command.ts';
import { campaignsFolder, campaignsOption } from '../options.ts';
import { withLedger } from '../shell.ts';

export const command = defineCommand({
  description:
    'Sends all runs, scheduled campaigns and notifications until it is stopped, on any machine with the same DATABASE_URL and accounts. Ctrl-C leaves the rest to others.',
  options: [campaignsOption, flag('--no-schedules', 'start no scheduled campaigns')],
  examples: [['volley worker', 'help to send all runs, until Ctrl-C']],
  run: async (shell, _, { campaigns = campaignsFolder(shell), schedules }) => {
    const { drainDeadlines } = await import('../../engine/dispatch/drain.ts');
    const { openLogger } = await import('../../platform/logger.ts');
    const { drainText } = await import('../runs/dispatch-and-print.ts');
    const { leaveAfter } = await import('../serving/work-until-stopped.ts');
    const { openPlanner } = await import('../serving/planner/planner.ts');
    const { workUntilStopped } = await import('../serving/work-until-stopped.ts');
    const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'info');
    await withLedger(shell, async (context) => {
      shell.drainOnStop(() => drainText());
      const { stop } = shell;
      const deadlines = drainDeadlines(stop);
      leaveAfter(deadlines.giveUp, shell, logger);
      const planner = openPlanner(context, shell.settings, campaigns, logger);
      const tools = { logger, observer: {}, stop, deadlines, planner };
      try {
        await workUntilStopped(shell, context, { worker: true, schedules, campaigns }, tools);
      } finally {
        await planner.close();
        deadlines.clear();
      }
    });
  },
});
