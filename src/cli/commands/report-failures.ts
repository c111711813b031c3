import type { Command } from 'commander';
import { runArgument } from '../options.ts';
import { addReportOptions, type ReportOptions } from '../report-options.ts';
import type { Shell } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addReportOptions(command.command('failures'), 'table')
    .description(
      "Prints every request that was rejected, failed, is in doubt or was abandoned, with its MessageID and the service's own words.",
    )
    .argument('<run>', runArgument)
    .action(async (name: string, options: ReportOptions) => {
      const { failuresAction } = await import('../actions/report-failures.ts');
      await failuresAction(shell, name, options);
    });
}
