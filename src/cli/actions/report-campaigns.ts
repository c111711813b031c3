import { reportCampaigns } from '../../engine/reporting/streamed-reports.ts';
import { createCampaignCharts } from '../../report/campaign-charts.ts';
import { campaignSheet } from '../../report/campaign-sheet.ts';
import { requirePeriod } from '../options.ts';
import type { ReportOptions } from '../report-options.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';
import { sheetWriter } from '../write-report.ts';

export type CampaignsOptions = ReportOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly timeZone: string;
};

export async function campaignsAction(
  shell: Shell,
  names: readonly string[],
  { from, to, timeZone, ...options }: CampaignsOptions,
): Promise<void> {
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
}
