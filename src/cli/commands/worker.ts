import type { Command } from 'commander';
import { drainDeadlines } from '../../engine/drain.ts';
import { openPatience } from '../../engine/patience.ts';
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
        const outage = {
          onLost: ({ message }: Error) => logger.warn({ reason: message }, 'the database is away; waiting'),
          onBack: () => logger.info('the database is back; going on'),
        };
        logger.info('worker started');
        try {
          await runWorker(context, {
            accountNamed: accountsOf(shell),
            onUnknownAccount: ({ message }) =>
              logger.warn(
                { reason: message },
                'an account cannot be used here; its requests are left to others',
              ),
            stop: shell.stop,
            cutOff: deadlines.cutOff,
            patience: openPatience(outage, context.ledger, deadlines.giveUp),
          });
        } catch (error) {
          if (!deadlines.giveUp.aborted) throw error;
          logger.error('the database was away until the end; what could not be recorded is in doubt');
          shell.leave(1);
        } finally {
          deadlines.clear();
        }
        logger.info('worker stopped');
      });
    });
}
