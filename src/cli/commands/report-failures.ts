import type { Command } from 'commander';
import { reportFailures } from '../../engine/reporting/streamed-reports.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { chooseRun, runArgument } from '../choose-run.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addReportOptions(command.command('failures'), 'table')
    .description(
      "Prints every request that was rejected, failed, is in doubt or was abandoned, with its MessageID and the service's own words.",
    )
    .argument('<run>', runArgument)
    .action(async (name: string, options: ReportOptions) => {
      const write = sheetWriter(shell, options, 'table');
      await withLedgerToRead(shell, async (context) => {
        const run = await chooseRun(shell, context, name);
        await reportFailures(context, run, (report) => write(failureSheet(report, shell.now())));
      });
    });
}
