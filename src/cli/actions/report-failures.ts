import { reportFailures } from '../../engine/reporting/streamed-reports.ts';
import { failureSheet } from '../../report/failure-sheet.ts';
import { chooseRun } from '../choose-run.ts';
import type { ReportOptions } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { sheetWriter } from '../write-report.ts';

export async function failuresAction(shell: Shell, name: string, options: ReportOptions): Promise<void> {
  const write = sheetWriter(shell, options, 'table');
  await withLedgerToRead(shell, async (context) => {
    const run = await chooseRun(shell, context, name);
    await write(failureSheet(await reportFailures(context, run), shell.now()));
  });
}
