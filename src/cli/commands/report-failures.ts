import { awayExits, withLedgerOfRun } from '../cells.ts';
import { argument, defineCommand } from '../command.ts';
import { reportOptions, runArgument } from '../options.ts';

export const command = defineCommand({
  description: "Prints every request that was not accepted, with its MessageID and the service's own words.",
  arguments: [argument('<run>', runArgument)],
  options: reportOptions('table'),
  exits: awayExits,
  examples: [['volley report failures latest', "read the service's own words"]],
  run: async (shell, [name], options) => {
    const reports = await import('../../engine/reporting/streamed-reports.ts');
    const { failureSheet } = await import('../../report/lists/failures.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const write = sheetWriter(shell, options, 'table');
    await withLedgerOfRun(shell, { name }, async (context, run) => {
      await reports.reportFailures(context, run, (report) => write(failureSheet(report)));
    });
  },
});
