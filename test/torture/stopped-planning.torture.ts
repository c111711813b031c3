import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openTestLedger } from '../support/ledger.ts';
import { startVolley } from '../support/volley.ts';
import { accountsYaml, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

test('a worker that plans a scheduled run of millions stops within its deadlines', async () => {
  await using workspace = await makeWorkspace({
    'campaigns/accounts.yaml': accountsYaml,
    'campaigns/night.yaml': `${smsCampaignYaml.replace('contacts.csv', 'contacts.csv.gz')}schedule: { cron: "* * * * *", timeZone: UTC, catchUp: 1h }\n`,
  });
  const rows = `mobile,name,code\n${'0412000001,Ann,A\n'.repeat(15_000_000)}`;
  await writeFile(`${workspace.folder}/campaigns/contacts.csv.gz`, gzipSync(rows, { level: 1 }));
  await using opened = new AsyncDisposableStack();
  const ledger = opened.adopt(await openTestLedger(), (it) => it.close());
  const { pool } = ledger.ledger;
  const started = startVolley(['worker', '--campaigns', 'campaigns'], {
    cwd: workspace.folder,
    env: {
      DATABASE_URL: ledger.url,
      VOLLEY_HOME: `${workspace.folder}/.volley`,
      VOLLEY_ACCOUNTS: 'campaigns/accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'any',
    },
  });
  const copying = `SELECT FROM pg_stat_progress_copy JOIN pg_stat_activity USING (pid)
    WHERE pg_stat_activity.datname = current_database()`;
  while ((await pool.query(copying)).rowCount === 0) {
    expect(started.process.exitCode, started.stderrSoFar()).toBe(null);
    // After the first look, a tick is long over.
    await pool.query(
      `UPDATE schedules SET recorded_until = now() - interval '5 minutes' WHERE recorded_until > now() - interval '2 minutes'`,
    );
    await sleep(500);
  }
  started.process.kill('SIGTERM');
  const asked = performance.now();
  await started.ended;
  expect(performance.now() - asked).toBeLessThan(12_000);
  expect((await pool.query('SELECT FROM runs')).rowCount).toBe(0);
});
