import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { tcpPeer } from '../gateway/test-peers.ts';
import { openTestLedger } from '../support/ledger.ts';
import { startVolley } from '../support/volley.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

test('Ctrl-C while a run is planned says at once that nothing was sent, and leaves no run', async () => {
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'campaign.yaml': smsCampaignYaml,
  });
  await using opened = new AsyncDisposableStack();
  const ledger = opened.adopt(await openTestLedger(), (it) => it.close());
  await using peer = await tcpPeer(() => undefined);
  const started = startVolley(['run', 'campaign.yaml', '--contacts', '-'], {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: ledger.url,
      VOLLEY_HOME: `${workspace.folder}/.volley`,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: peer.url,
      VOLLEY_SANDBOX_TOKEN: 'any',
    },
    // The input stays open, so planning never ends.
    input: contactsCsv(2_000),
    keepInputOpen: true,
  });
  const copying = `SELECT FROM pg_stat_progress_copy JOIN pg_stat_activity USING (pid)
    WHERE pg_stat_activity.datname = current_database()`;
  while ((await ledger.ledger.pool.query(copying)).rowCount === 0) {
    expect(started.process.exitCode, started.stderrSoFar()).toBe(null);
    await sleep(20);
  }
  started.process.kill('SIGINT');
  const { code, stdout, stderr } = await started.ended;
  expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
  expect(stderr).toBe(
    'Stopped while planning: nothing was sent. A run is made completely or not at all; `volley runs` shows whether it was.\n',
  );
  expect((await ledger.ledger.pool.query('SELECT FROM runs')).rowCount).toBe(0);
});
