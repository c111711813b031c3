import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunSummary } from '../../src/domain/runs.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { readJournal } from '../support/journal.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { startInProcess, volleyInProcess as volley } from '../support/volley.ts';
import {
  accountEnvironment,
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from '../support/workspace.ts';

let opened: TestLedger;
let workspace: Workspace;
let sandbox: Sandbox | undefined;

beforeAll(async () => {
  opened = await openTestLedger();
});
afterAll(() => opened.close());
beforeEach(async () => {
  workspace = await makeWorkspace({
    'accounts.yaml': accountsYaml,
    'campaign.yaml': smsCampaignYaml,
    'contacts.csv': contactsCsv(60),
  });
});
afterEach(async () => {
  await sandbox?.close();
  sandbox = undefined;
  await workspace[Symbol.asyncDispose]();
  // Blacklisted recipients were suppressed.
  await opened.ledger.pool.query('DELETE FROM suppressions');
});

async function surroundings(options: SandboxOptions = {}) {
  sandbox = await startSandbox({ journal: `${workspace.folder}/journal.jsonl`, ...options });
  return {
    cwd: workspace.folder,
    env: { ...accountEnvironment(opened, sandbox) },
  };
}

function journal() {
  return readJournal(`${workspace.folder}/journal.jsonl`);
}

function summaryOf(stdout: string): RunSummary {
  return JSON.parse(stdout);
}

async function ledgerRequests(run: string) {
  const { rows } = await opened.ledger.pool.query<{
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
  const { code, stdout } = await volley(['run', 'campaign.yaml', '--json'], await surroundings());
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
  const where = await surroundings();
  const first = summaryOf((await volley(['run', 'campaign.yaml', '--json'], where)).stdout);
  const second = summaryOf((await volley(['run', 'campaign.yaml', '--json'], where)).stdout);
  const plan = JSON.parse((await volley(['plan', 'campaign.yaml', '--json'], where)).stdout);
  expect(second.run).not.toBe(first.run);
  expect({ ...second, run: '' }).toEqual({ ...first, run: '' });
  expect(plan.contacts).toEqual(first.contacts);
  expect([plan.requests, plan.recipients]).toEqual([first.requests.total, first.recipients.total]);
  expect(await journal()).toHaveLength(120);
});

test('plan and check send nothing and need no database', async () => {
  const where = await surroundings();
  const withoutDatabase = { ...where, env: { ...where.env, DATABASE_URL: 'postgres://127.0.0.1:1/none' } };
  expect((await volley(['plan', 'campaign.yaml'], withoutDatabase)).code).toBe(0);
  expect((await volley(['plan', '--check', 'campaign.yaml'], withoutDatabase)).code).toBe(0);
  expect(await journal()).toEqual([]);
});

test('status, runs and both reports print JSON: one object, or one object a line', async () => {
  const where = await surroundings();
  const { run } = summaryOf((await volley(['run', 'campaign.yaml', '--json'], where)).stdout);
  const json = async (...words: string[]) => {
    const { code, stdout } = await volley([...words, '--json'], where);
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
  const billing = JSON.parse((await volley(['billing', 'report', '--run', run, '--json'], where)).stdout);
  expect(billing.rows).toHaveLength(6);
  expect(billing.totals).toMatchObject([{ requests: 60, recipients: 60, accepted: 60 }]);
});

test('a run with failures ends with exit code 3, and its report names them in words', async () => {
  const where = await surroundings({ failRate: 1 });
  const { code, stdout } = await volley(['run', 'campaign.yaml', '--json'], where);
  expect(code).toBe(3);
  const { run, requests, recipients } = summaryOf(stdout);
  expect(requests).toMatchObject({ total: 60, in_doubt: 60 });
  expect(recipients).toMatchObject({ unknown: 60 });
  const report = await volley(['report', 'run', run], where);
  expect(report.stdout).toMatch(/in doubt .*Error occurred while creating job.* 60/);
});

test('a refused credential pauses the run with exit code 4, and resume completes it', async () => {
  const where = await surroundings({ token: 'right' });
  const refused = await volley(['run', 'campaign.yaml', '--json'], where);
  expect(refused.code).toBe(4);
  const { run, state, requests } = summaryOf(refused.stdout);
  expect({ state, planned: requests.planned }).toEqual({ state: 'paused', planned: 60 });
  expect(refused.stderr).toMatch(/the service refused the credential of account "sandbox"/);

  const resumed = await volley(['resume', run, '--json'], {
    ...where,
    env: { ...where.env, VOLLEY_SANDBOX_TOKEN: 'right' },
  });
  expect(resumed.code).toBe(0);
  expect(summaryOf(resumed.stdout)).toMatchObject({ run, state: 'completed', requests: { accepted: 60 } });
});

test('Ctrl-C drains with exit code 130 and nothing in doubt, and resume sends the rest once', async () => {
  const where = await surroundings({ latency: 50 });
  // stopping.whole.ts sends the signal itself.
  const started = startInProcess(['run', 'campaign.yaml', '--json'], where);
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

  expect((await volley(['resume', run], where)).code).toBe(0);
  const ids = (await journal()).map(({ messageId }) => messageId);
  expect(ids).toHaveLength(60);
  expect(new Set(ids).size).toBe(60);
});

test('delivery reports that serve receives make every recipient delivered or undelivered', async () => {
  const token = 'webhook-token-of-22-characters-or-more';
  const base = { DATABASE_URL: opened.url, VOLLEY_ACCOUNTS: 'accounts.yaml', VOLLEY_WEBHOOK_TOKEN: token };
  const server = startInProcess(['serve', '--no-api', '--port', '0'], {
    cwd: workspace.folder,
    env: { ...base, LOG_LEVEL: 'silent' },
  });
  try {
    await server.waitForText('Delivery reports of account sandbox: POST http');
    const url = /POST (http:\/\/127\.0\.0\.1:\d+\/webhook\/sandbox\/)/.exec(server.stderrSoFar())?.[1];
    expect(server.stderrSoFar()).not.toContain(token);
    const where = await surroundings({ webhook: { url: `${url}${token}` }, undeliveredRate: 0.5 });
    const { run } = summaryOf((await volley(['run', 'campaign.yaml', '--json'], where)).stdout);
    let summary = await statusOf(run, where);
    while (summary.recipients.delivered + summary.recipients.undelivered < 60)
      summary = await statusOf(run, where);
    expect(summary.recipients.delivered).toBeGreaterThan(0);
    expect(summary.recipients.undelivered).toBeGreaterThan(0);
  } finally {
    server.stop();
  }
  expect((await server.ended).code).toBe(0);
});

async function statusOf(run: string, where: Awaited<ReturnType<typeof surroundings>>): Promise<RunSummary> {
  return summaryOf((await volley(['status', run, '--json'], where)).stdout);
}

test('a run whose database connections all break continues, and sends nothing twice', async () => {
  const own = await openTestLedger();
  const where = await surroundings({ latency: 30 });
  const env = { ...where.env, DATABASE_URL: own.url };
  const started = startInProcess(['run', 'campaign.yaml', '--json'], { ...where, env });
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
  const where = await surroundings({ failRate: 0.3, seed: 7 });
  const first = summaryOf((await volley(['run', 'campaign.yaml', '--json'], where)).stdout);
  const { unknown } = first.recipients;
  expect(unknown).toBeGreaterThan(0);
  await sandbox?.close();

  const again = await surroundings();
  const misused = [
    ['run', '--only', 'unknown'],
    ['run', '--of', first.run],
    ['run', 'campaign.yaml', '--only', 'unknown', '--of', first.run],
    ['rerun', first.run],
    ['rerun', first.run, '--only', 'accepted'],
  ];
  for (const words of misused) expect((await volley(words, again)).code).toBe(2);

  const words = ['rerun', first.run, '--only', 'failed,unknown', '--json'];
  const { code, stdout, stderr } = await volley(words, again);
  const second = summaryOf(stdout);
  expect(code).toBe(0);
  expect(second.recipients).toMatchObject({ total: unknown, accepted: unknown });
  expect(stderr).toContain('may have the message already');
  expect((await volley(words, again)).code).toBe(2);
});

test('the result file goes to standard output, or to a new file that only its user can read', async () => {
  const where = await surroundings();
  const { run } = summaryOf((await volley(['run', 'campaign.yaml', '--json'], where)).stdout);
  const { stdout } = await volley(['report', 'contacts', run], where);
  expect(stdout.split('\n').length).toBe(62);
  expect(stdout).toMatch(/^mobile.*,Volley State,.*\n04.*,accepted,/);

  const words = ['report', 'contacts', run, '--state', 'accepted', '--out', 'result.csv'];
  expect(await volley(words, where)).toMatchObject({ code: 0, stdout: '' });
  expect(await workspace.read('result.csv')).toBe(stdout);
  expect(statSync(`${workspace.folder}/result.csv`).mode & 0o777).toBe(0o600);
  expect(await volley(words, where)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'result.csv: The file cannot be written (it exists already; remove it or choose another name).',
    ),
  });
  const rejected = await volley(['report', 'contacts', run, '--state', 'invalid,suppressed'], where);
  expect(rejected.stdout.split('\n').length).toBe(2);
});

test('files that match a pattern are run once, and a run without new files ends with exit code 0', async () => {
  await workspace.write('campaign.yaml', smsCampaignYaml.replace('contacts.csv', '"inbox/*.csv"'));
  const where = await surroundings();
  await workspace.write('inbox/monday.csv', contactsCsv(3));
  const first = await volley(['run', 'campaign.yaml', '--json'], where);
  expect(summaryOf(first.stdout)).toMatchObject({ requests: { accepted: 3 } });
  await workspace.write('inbox/copy.csv', contactsCsv(3));
  const second = await volley(['run', 'campaign.yaml', '--json'], where);
  expect(second).toMatchObject({ code: 0, stdout: '' });
  expect(second.stderr).toContain('All 2 files that match have been run before. There is nothing to run.');
  expect(await journal()).toHaveLength(3);
});
