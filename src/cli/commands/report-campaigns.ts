import type { Command } from 'commander';
import { reportCampaigns } from '../../engine/reporting/streamed-reports.ts';
import { campaignCharts } from '../../report/campaign-charts.ts';
import { campaignSheet } from '../../report/campaign-sheet.ts';
import { requirePeriod } from '../options.ts';
import { addReportOptions, type ReportOptions, sheetWriter } from '../report-options.ts';
import { parseLocalTime } from '../scalar-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { timeZoneOption } from '../time-zone-option.ts';

type CampaignsOptions = ReportOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly timeZone: string;
};

export function define(command: Command, shell: Shell): void {
  const campaigns = command
    .command('campaigns')
    .description(
      'The runs of campaigns side by side, newest first: how many contacts, requests and recipients, what became of them, how long it took, what it cost. The figures are those of volley report billing --by run.',
    )
    .argument('[campaign...]', 'their names; all by default')
    .option(
      '--from <date>',
      'runs that were planned from then on: 2026-11, 2026-11-01 or 2026-11-01T08:30',
      parseLocalTime,
    )
    .option('--to <date>', 'and before then', parseLocalTime)
    .addOption(timeZoneOption('of these dates'));
  addReportOptions(campaigns, 'table').action(
    async (names: readonly string[], { from, to, timeZone, ...options }: CampaignsOptions) => {
      const write = sheetWriter(shell, { ...options, timeZone }, 'table');
      requirePeriod(from, to);
      const query = { campaigns: names, from: from ?? null, until: to ?? null, timeZone };
      await withLedgerToRead(shell, (context) =>
        reportCampaigns(context, query, async (report) => {
          const sums = await report.sums();
          const charts = () => campaignCharts(sums);
          await write(campaignSheet(query, { runs: report.runs, sums, charts }, shell.now()));
        }),
      );
    },
  );
}
