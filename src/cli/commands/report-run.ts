import { runReportFormats } from '../../report/formats/sheet.ts';
import { argument, defineCommand } from '../command.ts';
import { runArgument, timeZoneOption } from '../options.ts';
import { limitedReportOptions, severalTables } from '../report-options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description:
    "Prints a run in full: counts by state, timeline, sends over time, slowest requests, delivery results, conflicting delivery reports, failures in the service's own words, rejected contacts and cost.",
  arguments: [argument('<run>', runArgument)],
  options: [
    timeZoneOption(
      "time zone of the times, such as Pacific/Auckland (default: the terminal's in a table, otherwise UTC); in JSON, only of sends over time",
    ),
    ...limitedReportOptions('table', runReportFormats, severalTables),
  ],
  examples: [['volley report run latest --out run.html', 'write a page to print']],
  run: async (shell, [name], options) => {
    const { readRunReport } = await import('../../engine/reporting/read-run-report.ts');
    const { formatRunReport } = await import('../../report/format-run-report.ts');
    const { toRunDetails } = await import('../../report/run-details.ts');
    const { screenZone } = await import('../../report/time.ts');
    const { chooseRun } = await import('../choose-run.ts');
    const { chooseFormat, screenOf, writeReport } = await import('../write-report.ts');
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
  },
});
