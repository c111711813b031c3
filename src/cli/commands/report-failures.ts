import { argument, defineCommand } from '../command.ts';
import { runArgument } from '../options.ts';
import { reportOptions } from '../report-options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: "Prints every request that was not accepted, with its MessageID and the service's own words.",
  arguments: [argument('<run>', runArgument)],
  options: reportOptions('table'),
  examples: [['volley report failures latest', "read the service's own words"]],
  run: async (shell, [name], options) => {
    const reports = await import('../../engine/reporting/streamed-reports.ts');
    const { failureSheet } = await import('../../report/lists/failures.ts');
    const { chooseRun } = await import('../runs/choose-run.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const write = sheetWriter(shell, options, 'table');
    await withLedgerToRead(shell, async (context) => {
      const run = await chooseRun(shell, context, name);
      await write(failureSheet(await reports.reportFailures(context, run), shell.now()));
    });
  },
});
