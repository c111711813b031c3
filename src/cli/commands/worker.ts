import type { Command } from 'commander';
import { drainDeadlines } from '../../engine/drain.ts';
import { keepSchedules, usualLook } from '../../engine/keep-schedules.ts';
import { openPatience } from '../../engine/patience.ts';
import { runWorker } from '../../engine/worker.ts';
import { openLogger } from '../../platform/logger.ts';
import { accountsOf } from '../run-steps.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command
    .description(
      'Helps to send whatever runs there are, from any machine with the same DATABASE_URL and accounts, until it is stopped; and begins those of campaigns whose time has come (volley schedule). Ctrl-C drains: what is on its way is recorded, and the rest is left to other workers.',
    )
    .option('--campaigns <folder>', 'where campaigns with a schedule are', 'campaigns')
    .option('--no-schedules', 'begin nothing; only help to send')
    .action(async ({ campaigns, schedules }: WorkerOptions) => {
      const logger = openLogger(shell.settings.environment['LOG_LEVEL'], 'info');
      await withLedger(shell, async (context) => {
        shell.drainable();
        const deadlines = drainDeadlines(shell.stop);
        const outage = {
          onLost: ({ message }: Error) => logger.warn({ reason: message }, 'the database is away; waiting'),
          onBack: () => logger.info('the database is back; going on'),
        };
        logger.info('worker started');
        const accountNamed = accountsOf(shell);
        const place = { folder: campaigns, settings: shell.settings, accountNamed };
        const scheduling = schedules
          ? keepSchedules(context, place, usualLook, logger, shell.stop)
          : undefined;
        try {
          await runWorker(context, {
            accountNamed,
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
          await scheduling;
          deadlines.clear();
        }
        logger.info('worker stopped');
      });
    });
}

type WorkerOptions = { readonly campaigns: string; readonly schedules: boolean };
