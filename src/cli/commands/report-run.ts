import { runReportFormats } from '../../report/formats/sheet.ts';
import { awayExits, withLedgerOfRun } from '../cells.ts';
import { argument, defineCommand } from '../command.ts';
import { runArgument, runReportOptions, severalTables } from '../options.ts';

export const command = defineCommand({
  description:
    'Prints a run in full: counts, timeline, answer times, delivery results, failures, rejected contacts and cost.',
  arguments: [argument('<run>', runArgument)],
  options: runReportOptions,
  exits: awayExits,
  examples: [['volley report run latest --out run.html', 'write a page to print']],
  run: async (shell, [name], options) => {
    const { readRunReport } = await import('../../engine/reporting/read-run-report.ts');
    const { formatRunReport } = await import('../../report/run/format-run-report.ts');
    const { toRunDetails } = await import('../../report/run/run-details.ts');
    const { screenZone } = await import('../../report/time.ts');
    const { chooseFormat, screenOf, writeReport } = await import('../output/write-report.ts');
    const format = chooseFormat(shell, options, {
      defaultFormat: 'table',
      formats: runReportFormats,
      advice: severalTables,
    });
    const { timeZone = format === 'table' ? screenZone(screenOf(shell, options)) : 'UTC' } = shell;
    const screen = screenOf(shell, { ...options, timeZone });
    await withLedgerOfRun(shell, { name }, async (context, run) => {
      const { asOf, ...found } = await readRunReport(context, run, timeZone);
      await writeReport(shell, options, {
        format,
        asOf,
        pieces: formatRunReport(toRunDetails(found, timeZone), format, asOf, screen),
      });
    });
  },
});
