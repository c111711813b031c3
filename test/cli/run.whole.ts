import { readFileSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/domain/runs.ts';
import { openTestLedger } from '../support/ledger.ts';
import { useSandboxScene } from '../support/sandbox-scene.ts';
import { startInProcess } from '../support/volley.ts';
import { contactsCsv, smsCampaignYaml } from '../support/workspace.ts';

const scene = useSandboxScene({ 'campaign.yaml': smsCampaignYaml, 'contacts.csv': contactsCsv(60) });
const { journal } = scene;
const volley = (...words: string[]) => scene.command(words);

// Blacklisted recipients were suppressed.
afterEach(() => scene.ledger.pool.query('DELETE FROM suppressions'));

function summaryOf(stdout: string): RunSummary {
  return JSON.parse(stdout);
}

async function ledgerRequests(run: string) {
  const { rows } = await scene.ledger.pool.query<{
    message_id: string;
    state: string;
    recipients: string[];
  }>(
    `SELECT message_id, request_state AS state, array_agg(address ORDER BY position) AS recipients
     FROM recipient_states
     WHERE run_id = $1
     GROUP BY request, message_id, request_state`,
    [run],
  );
  return rows;
}

test('every request that the service received is accepted in the ledger, with the same MessageID and recipients', async () => {
  const { code, stdout } = await volley('run', 'campaign.yaml', '--json');
  expect(code).toBe(0);
  const summary = summaryOf(stdout);
  expect(summary).toMatchObject({
    campaign: 'test',
    state: 'completed',
    contacts: { read: 60 },
    requests: { total: 60, accepted: 60 },
  });

  const inLedger = await ledgerRequests(summary.run);
  const byId = (await journal()).map(
    ({ messageId, recipients, status }) => [messageId, recipients, status] as const,
  );
  expect(byId.toSorted()).toEqual(
    inLedger.map(({ message_id, recipients }) => [message_id, recipients, 200] as const).toSorted(),
  );
  expect(inLedger.every(({ state }) => state === 'accepted')).toBe(true);
});

test('a second run of the same campaign is a new run, and a plan has the same counts', async () => {
  const first = summaryOf((await volley('run', 'campaign.yaml', '--json')).stdout);
  const second = summaryOf((await volley('run', 'campaign.yaml', '--json')).stdout);
  const plan = JSON.parse((await volley('plan', 'campaign.yaml', '--json')).stdout);
  expect(second.run).not.toBe(first.run);
  expect({ ...second, run: '' }).toEqual({ ...first, run: '' });
  expect(plan.contacts).toEqual(first.contacts);
  expect([plan.requests, plan.recipients]).toEqual([first.requests.total, first.recipients.total]);
  expect(await journal()).toHaveLength(120);
});

test('plan and check send nothing and need no database', async () => {
  const env = { DATABASE_URL: 'postgres://127.0.0.1:1/none' };
  for (const words of [['plan'], ['plan', '--check']])
    expect((await scene.command([...words, 'campaign.yaml'], { env })).code).toBe(0);
  expect(await journal()).toEqual([]);
});

test('status, runs and both reports print JSON: one object, or one object a line', async () => {
  const { run } = summaryOf((await volley('run', 'campaign.yaml', '--json')).stdout);
  const json = async (...words: string[]) => {
    const { code, stdout } = await volley(...words, '--json');
    expect(code).toBe(0);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  expect(await json('status', run)).toMatchObject([{ run, requests: { accepted: 60 } }]);
  expect((await json('runs'))[0]).toMatchObject({ run, campaign: 'test', state: 'completed' });
  expect(await json('report', 'run', run)).toMatchObject([
    { summary: { run }, failures: [], rejectedContacts: [] },
  ]);
  const billing = JSON.parse((await volley('billing', 'report', '--run', run, '--json')).stdout);
  expect(billing.rows).toHaveLength(6);
  expect(billing.totals).toMatchObject([{ requests: 60, recipients: 60, accepted: 60 }]);
});

test('a run with failures ends with exit code 3, and its report names them in words', async () => {
  await scene.replaceSandbox({ failRate: 1 });
  const { code, stdout } = await volley('run', 'campaign.yaml', '--json');
  expect(code).toBe(3);
  const { run, requests, recipients } = summaryOf(stdout);
  expect(requests).toMatchObject({ total: 60, in_doubt: 60 });
  expect(recipients).toMatchObject({ unknown: 60 });
  const report = await volley('report', 'run', run);
  expect(report.stdout).toMatch(/in doubt .*Error occurred while creating job.* 60/);
});

test('a refused credential pauses the run with exit code 4, and resume completes it', async () => {
  await scene.replaceSandbox({ token: 'right' });
  const refused = await volley('run', 'campaign.yaml', '--json');
  expect(refused.code).toBe(4);
  const { run, state, requests } = summaryOf(refused.stdout);
  expect({ state, planned: requests.planned }).toEqual({ state: 'paused', planned: 60 });
  expect(refused.stderr).toMatch(/the service refused the credential of account "sandbox"/);

  const env = { VOLLEY_SANDBOX_TOKEN: 'right' };
  const resumed = await scene.command(['resume', run, '--json'], { env });
  expect(resumed.code).toBe(0);
  expect(summaryOf(resumed.stdout)).toMatchObject({ run, state: 'completed', requests: { accepted: 60 } });
});

test('Ctrl-C drains with exit code 130 and nothing in doubt, and resume sends the rest once', async () => {
  await scene.replaceSandbox({ latency: 50 });
  // stopping.whole.ts sends the signal itself.
  const started = startInProcess(['run', 'campaign.yaml', '--json'], scene.surroundings);
  while ((await journal()).length < 8) await sleep(10);
  started.stop();
  const { code, stdout } = await started.ended;
  expect(code).toBe(130);
  const { run, state, requests } = summaryOf(stdout);
  expect({ state, sending: requests.sending, in_doubt: requests.in_doubt }).toEqual({
    state: 'paused',
    sending: 0,
    in_doubt: 0,
  });
  expect(requests.planned).toBeGreaterThan(0);

  expect((await volley('resume', run)).code).toBe(0);
  const ids = (await journal()).map(({ messageId }) => messageId);
  expect(ids).toHaveLength(60);
  expect(new Set(ids).size).toBe(60);
});

test('delivery reports that serve receives make every recipient delivered or undelivered', async () => {
  const token = 'webhook-token-of-22-characters-or-more';
  const base = { DATABASE_URL: scene.databaseUrl, VOLLEY_ACCOUNTS: 'accounts.yaml' };
  const server = startInProcess(['serve', '--no-api', '--port', '0'], {
    cwd: scene.folder,
    // It knows no sandbox, so its worker sends nothing.
    env: { ...base, VOLLEY_WEBHOOK_TOKEN: token, LOG_LEVEL: 'silent' },
  });
  try {
    await server.waitForText('Delivery reports of account sandbox: POST http');
    const url = /POST (http:\/\/127\.0\.0\.1:\d+\/webhook\/sandbox\/)/.exec(server.stderrSoFar())?.[1];
    expect(server.stderrSoFar()).not.toContain(token);
    await scene.replaceSandbox({ webhook: { url: `${url}${token}` }, undeliveredRate: 0.5 });
    const { run } = summaryOf((await volley('run', 'campaign.yaml', '--json')).stdout);
    let summary = await statusOf(run);
    while (summary.recipients.delivered + summary.recipients.undelivered < 60) summary = await statusOf(run);
    expect(summary.recipients.delivered).toBeGreaterThan(0);
    expect(summary.recipients.undelivered).toBeGreaterThan(0);
  } finally {
    server.stop();
  }
  expect((await server.ended).code).toBe(0);
});

async function statusOf(run: string): Promise<RunSummary> {
  return summaryOf((await volley('status', run, '--json')).stdout);
}

test('a run whose database connections all break continues, and sends nothing twice', async () => {
  const own = await openTestLedger();
  await scene.replaceSandbox({ latency: 30 });
  const { cwd, env } = scene.surroundings;
  const started = startInProcess(['run', 'campaign.yaml', '--json'], {
    cwd,
    env: { ...env, DATABASE_URL: own.url },
  });
  while ((await journal()).length < 8) await sleep(5);
  await own.breakConnections();
  const { code, stdout, stderr } = await started.ended;
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/\n\s+at /);
  const { requests } = summaryOf(stdout);
  const ids = (await journal()).map(({ messageId }) => messageId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toHaveLength(60);
  expect(requests.accepted).toBe(60);
  await own.close();
});

test('volley rerun sends to the failed recipients of a run again, and takes no campaign', async () => {
  await scene.replaceSandbox({ failRate: 0.3, seed: 7 });
  const first = summaryOf((await volley('run', 'campaign.yaml', '--json')).stdout);
  const { unknown } = first.recipients;
  expect(unknown).toBeGreaterThan(0);

  await scene.replaceSandbox({});
  const misused = [
    ['run', '--only', 'unknown'],
    ['run', '--of', first.run],
    ['run', 'campaign.yaml', '--only', 'unknown', '--of', first.run],
    ['rerun', first.run],
    ['rerun', first.run, '--state', 'accepted'],
  ];
  for (const words of misused) expect((await volley(...words)).code).toBe(2);

  const words = ['rerun', first.run, '--state', 'failed,unknown', '--json'];
  const { code, stdout, stderr } = await volley(...words);
  const second = summaryOf(stdout);
  expect(code).toBe(0);
  expect(second.recipients).toMatchObject({ total: unknown, accepted: unknown });
  expect(stderr).toContain('may have the message already');
  expect((await volley(...words)).code).toBe(2);
});

test('the result file goes to standard output, or to a new file that only its user can read', async () => {
  const { run } = summaryOf((await volley('run', 'campaign.yaml', '--json')).stdout);
  const { stdout } = await volley('report', 'contacts', run);
  expect(stdout.split('\n').length).toBe(62);
  expect(stdout).toMatch(/^mobile.*,Volley State,.*\n04.*,accepted,/);

  const words = ['report', 'contacts', run, '--state', 'accepted', '--out', 'result.csv'];
  expect(await volley(...words)).toMatchObject({ code: 0, stdout: '' });
  expect(readFileSync(`${scene.folder}/result.csv`, 'utf8')).toBe(stdout);
  expect(statSync(`${scene.folder}/result.csv`).mode & 0o777).toBe(0o600);
  expect(await volley(...words)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'result.csv: The file cannot be written (it exists already; remove it or choose another name).',
    ),
  });
  const rejected = await volley('report', 'contacts', run, '--state', 'invalid,suppressed');
  expect(rejected.stdout.split('\n').length).toBe(2);
});

test('files that match a pattern are run once, and a run without new files ends with exit code 0', async () => {
  await scene.write('campaign.yaml', smsCampaignYaml.replace('contacts.csv', '"inbox/*.csv"'));
  await scene.write('inbox/monday.csv', contactsCsv(3));
  const first = await volley('run', 'campaign.yaml', '--json');
  expect(summaryOf(first.stdout)).toMatchObject({ requests: { accepted: 3 } });
  await scene.write('inbox/copy.csv', contactsCsv(3));
  const second = await volley('run', 'campaign.yaml', '--json');
  expect(second).toMatchObject({ code: 0, stdout: '' });
  expect(second.stderr).toContain('All 2 files that match have been run before. There is nothing to run.');
  expect(await journal()).toHaveLength(3);
});
