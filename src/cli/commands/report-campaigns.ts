import type { Command } from 'commander';
import { reportCampaigns } from '../../engine/reporting/streamed-reports.ts';
import { createCampaignCharts } from '../../report/campaign-charts.ts';
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
      'Compares the runs of campaigns, newest first: contacts, requests, recipients, results, duration and cost. The costs equal those of `volley report billing --by run`.',
    )
    .argument('[campaign...]', 'names of campaigns; all by default')
    .option(
      '--from <date>',
      'runs planned from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30',
      parseLocalTime,
    )
    .option('--to <date>', 'runs planned before this time', parseLocalTime)
    .addOption(timeZoneOption('time zone of these dates'));
  addReportOptions(campaigns, 'table').action(
    async (names: readonly string[], { from, to, timeZone, ...options }: CampaignsOptions) => {
      const write = sheetWriter(shell, { ...options, timeZone }, 'table');
      requirePeriod(from, to);
      const query = { campaigns: names, from: from ?? null, until: to ?? null, timeZone };
      await withLedgerToRead(shell, (context) =>
        reportCampaigns(context, query, async (report) => {
          const sums = await report.sums();
          const charts = () => createCampaignCharts(sums);
          await write(campaignSheet(query, { runs: report.runs, sums, charts }, shell.now()));
        }),
      );
    },
  );
}
