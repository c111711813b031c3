import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { readJournal } from '../support/journal.ts';
import { openTestLedger } from '../support/ledger.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const script = fileURLToPath(new URL('./schedule-process.ts', import.meta.url));

/** Milliseconds for an hour of the schedule. */
const hour = 600;
const hours = 200;

test('four workers that are killed at random start each of two hundred ticks once and send none twice', async () => {
  const opened = await openTestLedger();
  await using workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'campaigns/contacts.csv': contactsCsv(4),
    'campaigns/hourly.yaml': `${smsCampaignYaml}schedule: { cron: "0 * * * *", timeZone: Pacific/Auckland, catchUp: 300d, overlap: queue }\n`,
  });
  const journal = `${workspace.folder}/journal.jsonl`;
  const sandbox = await startSandbox({ token: 'x', latency: 5, journal });
  const startedAt = String(Date.now());
  const env = {
    ...process.env,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: sandbox.url,
    VOLLEY_SANDBOX_TOKEN: 'x',
    VOLLEY_WEBHOOK_TOKEN: 'token-of-the-test-that-is-long-enough',
  };
  // Daylight saving begins on the second day.
  const begin = '2026-09-25T12:30:00Z';
  const start = (): ChildProcess =>
    spawn(process.execPath, [script, opened.url, String(hour), begin, startedAt], {
      cwd: workspace.folder,
      env,
      stdio: 'inherit',
    });
  const workers = Array.from({ length: 4 }, start);
  let kills = 0;
  const count = async (sql: string): Promise<number> =>
    Number((await opened.ledger.pool.query<{ count: string }>(`SELECT count(*) ${sql}`)).rows[0]?.count);
  try {
    for (;;) {
      await sleep(200 + Math.random() * 1_500);
      const index = Math.floor(Math.random() * workers.length);
      const worker = workers[index];
      if (worker?.exitCode === null) {
        worker.kill('SIGKILL');
        await once(worker, 'exit');
        kills++;
      }
      workers[index] = start();
      if ((await count(`FROM ticks WHERE state = 'started'`)) >= hours) break;
    }
    while ((await count(`FROM ticks t JOIN runs r USING (run_id) WHERE r.state <> 'completed'`)) > 0)
      await sleep(500);
  } finally {
    for (const worker of workers) {
      worker.kill('SIGKILL');
      if (worker.exitCode === null && worker.signalCode === null) await once(worker, 'exit');
    }
  }
  const { rows } = await opened.ledger.pool.query<{ due_at: Date; state: string; run_id: string | null }>(
    `SELECT due_at, state, run_id FROM ticks ORDER BY due_at LIMIT ${hours}`,
  );
  const first = rows[0]?.due_at.getTime() ?? Number.NaN;
  expect(rows.map(({ due_at }) => due_at.getTime())).toEqual(
    Array.from({ length: hours }, (_, index) => first + index * 3_600_000),
  );
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['started']));
  expect(new Set(rows.map(({ run_id }) => run_id)).size).toBe(hours);
  expect(await count('FROM runs')).toBe(await count(`FROM ticks WHERE state = 'started'`));
  const accepted = (await readJournal(journal)).filter(({ status }) => status === 200);
  const messageIds = accepted.map(({ messageId }) => messageId);
  expect(new Set(messageIds).size).toBe(messageIds.length);
  console.log(
    `${hours} runs, ${kills} kills, ${await count(`FROM request_states WHERE state = 'in_doubt'`)} requests in doubt`,
  );
  await sandbox.close();
  await opened.close();
});
