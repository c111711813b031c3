import type { Command } from 'commander';
import { runReportFormats } from '../../report/formats/sheet.ts';
import { timeZoneOption } from '../late-options.ts';
import { runArgument } from '../options.ts';
import { addLimitedReportOptions, type ReportOptions, severalTables } from '../report-options.ts';
import type { Shell } from '../shell.ts';

export async function define(command: Command, shell: Shell, words: readonly string[]): Promise<void> {
  const report = command
    .command('run')
    .description(
      "Prints a run in full: counts by state, timeline, sends over time, slowest requests, delivery results, conflicting delivery reports, failures in the service's own words, rejected contacts and cost.",
    )
    .argument('<run>', runArgument)
    .addOption(
      await timeZoneOption(
        words,
        "time zone of the times, such as Pacific/Auckland (default: the terminal's in a table, otherwise UTC); in JSON, only of sends over time",
      ),
    );
  addLimitedReportOptions(report, 'table', runReportFormats, severalTables).action(
    async (name: string, options: ReportOptions & { readonly timeZone?: string }) => {
      const { runAction } = await import('../actions/report-run.ts');
      await runAction(shell, name, options);
    },
  );
}
