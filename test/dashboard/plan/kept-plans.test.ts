import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { createKeptPlans } from '../../../src/dashboard/plan/kept-plans.ts';
import { planStart } from '../../../src/engine/plan/start-plan.ts';
import { testLedger } from '../../support/test-ledger.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../../support/workspace.ts';

const opened = testLedger();

test('a plan is found by its owner only, and is gone after an hour', async () => {
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'contacts.csv': contactsCsv(2),
    'campaign.yaml': smsCampaignYaml,
  });
  const environment = {
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
    VOLLEY_SANDBOX_TOKEN: 'x',
  };
  const settings = { workingFolder: workspace.folder, environment };
  const request = { path: 'campaign.yaml', settings };
  const plan = await planStart(opened.context, request, 1, () => undefined);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const plans = createKeptPlans(pino({ level: 'silent' }));
  try {
    const ofAnn = { owner: 'ann', key: 'a campaign' };
    const kept = await plans.open({ ...ofAnn, make: async () => plan }, undefined);
    await kept.ended;
    expect(plans.find(ofAnn)).toBe(plan);
    expect(plans.find({ ...ofAnn, owner: 'bea' })).toBeUndefined();
    vi.advanceTimersByTime(3_599_000);
    expect(plans.find(ofAnn)).toBe(plan);
    vi.advanceTimersByTime(1_000);
    expect(plans.find(ofAnn)).toBeUndefined();
  } finally {
    plans.close();
    vi.useRealTimers();
  }
});
