import diagnostics from 'node:diagnostics_channel';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { testLedger } from '../support/test-ledger.ts';
import { volleyInProcess } from '../support/volley.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const opened = testLedger();

const notify = `notify:
  - { on: [completed], command: ["true"] }
`;

test.each([
  ['nothing else to do', '', ''],
  ['others to notify', notify, 'sends the notifications that are due'],
])(
  'a database that is lost after a run is complete, with %s, changes neither its summary nor its exit code',
  async (_, more, said) => {
    await using workspace = await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'contacts.csv': contactsCsv(3),
      'campaign.yaml': `${smsCampaignYaml}${more}`,
    });
    const sandbox = await startSandbox();
    await using proxy = await startPostgresProxy(opened.url);
    const stopProxy = (message: unknown): void => {
      if (
        typeof message === 'object' &&
        message !== null &&
        'point' in message &&
        message.point === 'run finished'
      )
        proxy.stop();
    };
    diagnostics.subscribe('volley:dispatch', stopProxy);
    const { code, stdout, stderr } = await volleyInProcess(['run', 'campaign.yaml', '--json'], {
      cwd: workspace.folder,
      env: {
        DATABASE_URL: proxy.url,
        VOLLEY_ACCOUNTS: 'accounts.yaml',
        VOLLEY_SANDBOX_URL: sandbox.url,
        VOLLEY_SANDBOX_TOKEN: 'any',
      },
    });
    diagnostics.unsubscribe('volley:dispatch', stopProxy);
    await sandbox.close();
    expect([code, stderr]).toEqual([0, expect.stringContaining(said)]);
    expect(stderr).not.toContain('in doubt');
    expect(JSON.parse(stdout)).toMatchObject({ state: 'completed', requests: { accepted: 3 } });
  },
);
