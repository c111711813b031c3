import { type Command, Option } from 'commander';
import { reportRun } from '../../engine/reporting/run-report.ts';
import { toRunDetails } from '../../report/run-details.ts';
import { formatRunReport, runReportFormats } from '../../report/run-report.ts';
import { screenZone } from '../../report/time.ts';
import { chooseRun, runArgument } from '../choose-run.ts';
import {
  addLimitedReportOptions,
  chooseFormat,
  type ReportOptions,
  screenOf,
  writeReport,
} from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { parseTimeZone } from '../time-zone-option.ts';

const instead =
  'The report of a run has several tables. For a single table, use `volley report contacts` or `volley report failures`.';

export function define(command: Command, shell: Shell): void {
  const report = command
    .command('run')
    .description(
      "Prints a run in full: counts by state, timeline, sends over time, slowest requests, delivery results, conflicting delivery reports, failures in the service's own words, rejected contacts and cost.",
    )
    .argument('<run>', runArgument)
    .addOption(
      new Option(
        '--time-zone <zone>',
        "time zone of the times, such as Pacific/Auckland (default: the terminal's in a table, otherwise UTC); in JSON, only of sends over time",
      ).argParser(parseTimeZone),
    );
  addLimitedReportOptions(report, 'table', runReportFormats, instead).action(
    async (name: string, options: ReportOptions & { readonly timeZone?: string }) => {
      const format = chooseFormat(shell, options, 'table', runReportFormats, instead);
      const screen = screenOf(shell, options);
      const timeZone = options.timeZone ?? (format === 'table' ? screenZone(screen) : 'UTC');
      await withLedgerToRead(shell, async (context) => {
        const run = await chooseRun(shell, context, name);
        const details = await reportRun(context, run, timeZone, (found) => toRunDetails(found, timeZone));
        await writeReport(shell, options, format, formatRunReport(details, format, shell.now(), screen));
      });
    },
  );
}
