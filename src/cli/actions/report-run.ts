import { readRunReport } from '../../engine/reporting/read-run-report.ts';
import { formatRunReport } from '../../report/format-run-report.ts';
import { runReportFormats } from '../../report/formats/sheet.ts';
import { toRunDetails } from '../../report/run-details.ts';
import { screenZone } from '../../report/time.ts';
import { chooseRun } from '../choose-run.ts';
import { type ReportOptions, severalTables } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { chooseFormat, screenOf, writeReport } from '../write-report.ts';

export async function runAction(
  shell: Shell,
  name: string,
  options: ReportOptions & { readonly timeZone?: string },
): Promise<void> {
  const format = chooseFormat(shell, options, {
    defaultFormat: 'table',
    formats: runReportFormats,
    advice: severalTables,
  });
  const screen = screenOf(shell, options);
  const timeZone = options.timeZone ?? (format === 'table' ? screenZone(screen) : 'UTC');
  await withLedgerToRead(shell, async (context) => {
    const run = await chooseRun(shell, context, name);
    const details = await readRunReport(context, run, timeZone, (found) => toRunDetails(found, timeZone));
    await writeReport(shell, options, {
      format,
      pieces: formatRunReport(details, format, shell.now(), screen),
    });
  });
}
