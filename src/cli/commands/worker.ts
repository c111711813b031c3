import type { Command } from 'commander';
import { drainDeadlines } from '../../engine/drain.ts';
import { runWorker } from '../../engine/worker.ts';
import { openLogger } from '../../platform/logger.ts';
import { accountsOf } from '../run-steps.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Helps to send whatever runs there are, from any machine with the same DATABASE_URL and accounts, until it is stopped. Ctrl-C drains: what is on its way is recorded, and the rest is left to other workers.',
    )
    .action(async () => {
      const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'info');
      await withLedger(shell, async (context) => {
        shell.drainable();
        const deadlines = drainDeadlines(shell.stop);
        logger.info('worker started');
        try {
          await runWorker(context, {
            accountNamed: accountsOf(shell),
            stop: shell.stop,
            cutOff: deadlines.cutOff,
            giveUp: deadlines.giveUp,
            outage: {
              onLost: ({ message }) => logger.warn({ reason: message }, 'the database is away; waiting'),
              onBack: () => logger.info('the database is back; going on'),
            },
          });
        } finally {
          deadlines.clear();
        }
        logger.info('worker stopped');
      });
    });
}
