import { expect, test } from 'vitest';
import { changeAccountLimits } from '../../../src/engine/dispatch/account-limits.ts';
import { createLiveAccounts } from '../../../src/engine/live/account-list.ts';
import { openTestLedger } from '../../support/ledger.ts';
import { accountsYaml, makeWorkspace } from '../../support/workspace.ts';

test('changed limits are seen at once, also on a machine that reads the accounts file slowly', async () => {
  const opened = await openTestLedger();
  try {
    await using workspace = await makeWorkspace({ 'campaigns/accounts.yaml': accountsYaml });
    const settings = { environment: {}, workingFolder: workspace.folder };
    let now = 0;
    // A second passes at each look at the clock, so the file is next read in five minutes.
    const monotonic = () => {
      now += 1_000;
      return now;
    };
    const live = createLiveAccounts({ ...opened.context, monotonic }, settings);
    const inForce = async () => (await live.read()).accounts[0]?.limits?.inForce.requestsPerSecond;
    expect([await inForce(), await inForce(), await inForce()]).toEqual([null, null, null]);
    await changeAccountLimits(opened.context, settings, 'sandbox', { requestsPerSecond: 7 });
    expect(await inForce()).toBe(7);
  } finally {
    await opened.close();
  }
});
