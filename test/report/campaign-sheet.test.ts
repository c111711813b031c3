import { expect, test } from 'vitest';
import type { CampaignRun, RunFigures } from '../../src/ledger/billing/run-costs.ts';
import { campaignSheet } from '../../src/report/billing/campaign-sheet.ts';
import type { ReportFormat } from '../../src/report/formats/sheet.ts';
import { inOrder, written } from '../support/sheets.ts';

const figures: RunFigures = {
  contactsRead: 500,
  contactsLeftOut: 54,
  requests: 385,
  recipients: 446,
  accepted: 446,
  delivered: 431,
  undelivered: 15,
  failed: 0,
  unknown: 0,
  price: '34.880',
  estimated: '0',
  currency: null,
};
const run: CampaignRun = {
  ...figures,
  run: '261121-20qpx',
  campaign: 'outage',
  account: 'main',
  channel: 'sms',
  state: 'running',
  plannedAt: new Date('2026-11-21T19:40:04Z'),
  begunAt: null,
  finishedAt: null,
  seconds: null,
  requestsPerSecond: null,
};
const query = { campaigns: ['outage'], from: '2026-11-01T00:00', until: null, timeZone: 'Pacific/Auckland' };

async function formatText(format: ReportFormat, changes: Partial<RunFigures> = {}): Promise<string> {
  const sums = [{ ...figures, ...changes }];
  const sheet = campaignSheet(query, { asOf: { at: new Date(0) }, runs: inOrder([[run]]), sums });
  return (await written(sheet, format)).toString();
}

test('the sheet names its campaigns and period and has totals', async () => {
  const shown = await formatText('table');
  expect(shown).toContain('outage\nplanned from 2026-11-01T00:00, Pacific/Auckland\n');
  expect(shown).toMatch(/│ Total +│ .* 500 │ .* 34\.880 │/);
});

test('the delivered share is that of accepted recipients, rounded half up, and empty where none was accepted', async () => {
  const shareOf = async (changes: Partial<RunFigures>): Promise<unknown> =>
    JSON.parse(await formatText('json', changes)).totals[0].deliveredShare;
  expect(await shareOf({})).toBe('96.6');
  expect(await shareOf({ accepted: 16, delivered: 1 })).toBe('6.3');
  expect(await shareOf({ accepted: 3, delivered: 3 })).toBe('100.0');
  expect(await shareOf({ accepted: 0, delivered: 0 })).toBeNull();
});

test('reading formats hide unused estimates and currencies, and machine formats keep them', async () => {
  expect(await formatText('table')).not.toMatch(/Estimated|Currency|Failed/);
  expect(await formatText('table', { estimated: '1.00', currency: 'NZD', failed: 2 })).toMatch(
    /Failed.*Estimated.*Currency/,
  );
  expect(await formatText('csv')).toMatch(/Failed,.*Estimated,Currency/);
});
