import { expect, test } from 'vitest';
import { changeAccountLimits } from '../../../src/engine/dispatch/account-limits.ts';
import { createLiveAccounts } from '../../../src/engine/live/account-list.ts';
import { openTestLedger } from '../../support/ledger.ts';
import { accountsYaml, makeWorkspace } from '../../support/workspace.ts';

test('changed limits and a changed accounts file are seen at once, also on a machine that reads slowly', async () => {
  const opened = await openTestLedger();
  try {
    const path = 'campaigns/accounts.yaml';
    await using workspace = await makeWorkspace({ [path]: accountsYaml });
    const settings = { environment: {}, workingFolder: workspace.folder };
    let now = 0;
    // A second passes at each look at the clock.
    const monotonic = () => {
      now += 1_000;
      return now;
    };
    const live = createLiveAccounts({ ...opened.context, monotonic }, settings);
    const inForce = async () => (await live()).accounts[0]?.limits?.inForce.requestsPerSecond;
    expect([await inForce(), await inForce(), await inForce()]).toEqual([null, null, null]);
    await changeAccountLimits(opened.context, settings, 'sandbox', { changes: { requestsPerSecond: 7 } });
    expect(await inForce()).toBe(7);

    await workspace.write(path, accountsYaml.replace('rest-2.02', 'pigeon'));
    expect((await live()).problems).toMatchObject([{ where: `${path}:4:16` }]);
    await workspace.write(path, accountsYaml.replace('sandbox:', 'other:'));
    const { accounts, problems } = await live();
    expect(problems).toEqual([]);
    // The ledger keeps the limits of the account that the file had.
    expect(accounts.map(({ account }) => account)).toEqual(['other', 'sandbox']);
  } finally {
    await opened.close();
  }
});
