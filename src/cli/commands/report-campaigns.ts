import { argument, defineCommand } from '../command.ts';
import { periodOf, periodOptions } from '../options.ts';
import { reportOptions } from '../report-options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: 'Compares the runs of campaigns, newest first.',
  arguments: [argument('[campaign...]', 'names of campaigns; all by default')],
  options: [...periodOptions('runs planned'), ...reportOptions('table')],
  examples: [['volley report campaigns --from 2026-11', 'compare the runs since November']],
  run: async (shell, [campaigns], options) => {
    const reports = await import('../../engine/reporting/streamed-reports.ts');
    const { createCampaignCharts } = await import('../../report/billing/campaign-sheet.ts');
    const { campaignSheet } = await import('../../report/billing/campaign-sheet.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const query = { campaigns, ...periodOf(shell, options) };
    const write = sheetWriter(shell, { ...options, timeZone: query.timeZone }, 'table');
    await withLedgerToRead(shell, (context) =>
      reports.reportCampaigns(context, query, async (report) => {
        const sums = await report.sums();
        const charts = () => createCampaignCharts(sums);
        await write(campaignSheet(query, { runs: report.runs, sums, charts }, shell.now()));
      }),
    );
  },
});
