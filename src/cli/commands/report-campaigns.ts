import type { CampaignQuery } from '../../ledger/billing/run-costs.ts';
import { awayExits, cellsOf, readCells } from '../cells.ts';
import { argument, defineCommand } from '../command.ts';
import { periodOf, periodOptions, reportOptions } from '../options.ts';
import type { WriteSheet } from '../output/write-report.ts';
import { type Shell, withLedgerToRead } from '../shell.ts';

export const command = defineCommand({
  description: 'Compares the runs of campaigns, newest first.',
  arguments: [argument('[campaign...]', 'names of campaigns; all by default')],
  options: [...periodOptions('runs planned'), ...reportOptions('table')],
  exits: awayExits,
  examples: [['volley report campaigns --from 2026-11', 'compare the runs since November']],
  run: async (shell, [campaigns], options) => {
    const reports = await import('../../engine/reporting/streamed-reports.ts');
    const { campaignSheet } = await import('../../report/billing/campaign-sheet.ts');
    const { sheetWriter } = await import('../output/write-report.ts');
    const query = { campaigns, ...periodOf(shell, options) };
    const write = sheetWriter(shell, { ...options, timeZone: query.timeZone }, 'table');
    if (await cellsOf(shell)) return writeCampaignsOfCells(shell, query, write);
    await withLedgerToRead(shell, (context) =>
      reports.reportCampaigns(context, query, (report) => write(campaignSheet(query, report))),
    );
  },
});

async function writeCampaignsOfCells(shell: Shell, query: CampaignQuery, write: WriteSheet): Promise<void> {
  const { refuseUnknown } = await import('../../engine/billing/known-names.ts');
  const { addUpRuns } = await import('../../engine/cells/figures.ts');
  const { readCellCampaigns } = await import('../../engine/cells/figures.ts');
  const { campaignSheet } = await import('../../report/billing/campaign-sheet.ts');
  const { parts, away, gaps } = await readCells(shell, (context) => readCellCampaigns(context, query));
  if (away.length === 0) refuseUnknown(parts.map(({ value }) => value.unknown));
  const newest = parts
    .flatMap(({ cell, value }) => value.runs.map((run) => ({ ...run, cell })))
    .toSorted((one, other) => Number(other.plannedAt) - Number(one.plannedAt));
  async function* runs() {
    yield newest;
  }
  const sums = addUpRuns(parts.flatMap(({ value }) => value.sums));
  const asOf = { at: shell.now() };
  const sheet = campaignSheet(query, { asOf, runs: runs(), sums, overCells: true });
  await write({ ...sheet, subtitle: [...sheet.subtitle, ...gaps] });
}
