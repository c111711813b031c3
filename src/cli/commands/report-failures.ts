import type { Command } from 'commander';
import { reportFailures } from '../../engine/reporting/streamed-reports.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  addReportOptions(command.command('failures'), 'table')
    .description(
      "Prints every request that was rejected, failed, is in doubt or was abandoned, with its MessageID and the service's own words.",
    )
    .argument('<run>', "the run's id (volley runs)")
    .action(async (runId: string, options: ReportOptions) => {
      const write = sheetWriter(shell, options, 'table');
      await withLedgerToRead(shell, (context) =>
        reportFailures(context, runId, (report) => write(failureSheet(report, shell.now()))),
      );
    });
}
