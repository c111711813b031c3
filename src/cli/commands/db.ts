import type { Command } from 'commander';
import type { RestoredOptions } from '../actions/db.ts';
import { parseTime } from '../options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  command.description('Migrates, shows or stops the database: DATABASE_URL, or the embedded server.');
  command
    .command('migrate')
    .description(
      'Migrates the ledger, or makes a new, empty one if there is none. Other commands that change something migrate a ledger too, but make none.',
    )
    .action(async () => {
      const { migrateAction } = await import('../actions/db.ts');
      await migrateAction(shell);
    });
  command
    .command('status')
    .description(
      'Shows which database is used, whether it runs, and whether it has a ledger. Changes nothing.',
    )
    .option('--json', 'print the status as JSON')
    .action(async (options: { json?: true }) => {
      const { statusAction } = await import('../actions/db.ts');
      await statusAction(shell, options);
    });
  command
    .command('stop')
    .description('Stops the embedded server if a killed command left it running.')
    .action(async () => {
      const { stopAction } = await import('../actions/db.ts');
      await stopAction(shell);
    });
  command
    .command('restored')
    .description(
      'Confirms that the ledger was restored from a backup, was moved, or is a promoted standby. Its unsent requests may have been sent since the backup, so they become in doubt, and their runs are paused. Continue with `volley resume` and `volley resolve` (docs/how-to/backup.md).',
    )
    .option('--since <time>', 'the time of the backup, such as 2026-11-21T08:00:00Z', parseTime)
    .option(
      '--nothing-missing',
      'instead of --since: the ledger is complete, because everything was stopped before the move, or the standby was synchronous; nothing becomes in doubt',
    )
    .requiredOption('--reason <words>', 'the reason, for the audit trail')
    .option('--json', 'print the unfinished runs, and those that the ledger lacks, as JSON')
    .action(async (options: RestoredOptions) => {
      const { restoredAction } = await import('../actions/db.ts');
      await restoredAction(shell, options);
    });
}
