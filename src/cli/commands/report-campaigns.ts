import { argument, defineCommand, option } from '../command.ts';
import { loadLocalTimeReader, requirePeriod, utcZoneOption } from '../options.ts';
import { reportOptions } from '../report-options.ts';
import { withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description:
    'Compares the runs of campaigns, newest first: contacts, requests, recipients, results, duration and cost.',
  arguments: [argument('[campaign...]', 'names of campaigns; all by default')],
  options: [
    option('--from <date>', 'runs planned from this time on: 2026-11, 2026-11-01 or 2026-11-01T08:30', {
      late: loadLocalTimeReader,
    }),
    option('--to <date>', 'runs planned before this time', { late: loadLocalTimeReader }),
    utcZoneOption('time zone of these dates'),
    ...reportOptions('table'),
  ],
  examples: [['volley report campaigns --from 2026-11', 'compare the runs since November']],
  run: async (shell, [campaigns], { from, to, timeZone, ...options }) => {
    const reports = await import('../../engine/reporting/streamed-reports.ts');
    const { createCampaignCharts } = await import('../../report/campaign-charts.ts');
    const { campaignSheet } = await import('../../report/campaign-sheet.ts');
    const { sheetWriter } = await import('../write-report.ts');
    const write = sheetWriter(shell, { ...options, timeZone }, 'table');
    requirePeriod(from, to);
    const query = { campaigns, from: from ?? null, until: to ?? null, timeZone };
    await withLedgerToRead(shell, (context) =>
      reports.reportCampaigns(context, query, async (report) => {
        const sums = await report.sums();
        const charts = () => createCampaignCharts(sums);
        await write(campaignSheet(query, { runs: report.runs, sums, charts }, shell.now()));
      }),
    );
  },
});
