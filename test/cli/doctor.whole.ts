import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { diagnose as diagnoseInstallation } from '../../src/engine/doctor/diagnose.ts';
import { readVersion } from '../../src/platform/package-folder.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { freePort } from '../support/free-port.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { backUpLedger } from '../support/ledger-backup.ts';
import { listening } from '../support/listening.ts';
import { runStatement } from '../support/statement.ts';
import { type StartedInProcess, startInProcess, volleyInProcess } from '../support/volley.ts';
import { contactsCsv, makeWorkspace, smsCampaignYaml, type Workspace } from '../support/workspace.ts';

const accounts = `accounts:
  sandbox:
    interface: rest-2.02
    baseUrl: \${VOLLEY_SANDBOX_URL}
    authToken: \${VOLLEY_SANDBOX_TOKEN}
    webhookToken: \${VOLLEY_WEBHOOK_TOKEN}
`;

const scheduled = `${smsCampaignYaml}schedule: { cron: "30 2 * * *", timeZone: Pacific/Auckland }\n`;

const role = `volley_doctor_${randomBytes(4).toString('hex')}`;

let opened: TestLedger;
let workspace: Workspace;
let sandbox: Sandbox;
let env: Readonly<Record<string, string>>;
let receiver: StartedInProcess;

beforeAll(async () => {
  opened = await openTestLedger();
  workspace = await makeWorkspace({
    '.volley-project': '',
    'campaigns/accounts.yaml': accounts,
    'campaigns/contacts.csv': contactsCsv(4),
    'campaigns/once.yaml': smsCampaignYaml,
    'campaigns/nightly.yaml': scheduled,
  });
  sandbox = await startSandbox({ token: 'the-right-token' });
  const port = await freePort();
  env = {
    DATABASE_URL: opened.url,
    VOLLEY_SANDBOX_URL: sandbox.url,
    VOLLEY_SANDBOX_TOKEN: 'the-right-token',
    VOLLEY_WEBHOOK_TOKEN: 'a-token-that-is-long-enough-for-it',
    VOLLEY_HASH_KEY: 'k'.repeat(40),
    VOLLEY_PUBLIC_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'silent',
  };
});
afterAll(async () => {
  receiver.stop();
  await receiver.ended;
  await sandbox.close();
  await opened.close();
  await runStatement(opened.url.replace(/\/[^/]*$/, '/postgres'), `DROP ROLE IF EXISTS ${role}`);
  await workspace[Symbol.asyncDispose]();
});
beforeEach(() => statement('UPDATE schedules SET recorded_until = clock_timestamp()'));

const statement = (text: string) => runStatement(opened.url, text);
const command = (...words: string[]) => volleyInProcess(words, { cwd: workspace.folder, env });

async function startServe(...words: string[]): Promise<void> {
  const port = new URL(env['VOLLEY_PUBLIC_URL'] ?? '').port;
  receiver = startInProcess(['serve', '--no-api', '--port', port, ...words], { cwd: workspace.folder, env });
  await receiver.waitForText('Delivery reports of account sandbox');
}

const resultSchema = z.strictObject({
  state: z.string(),
  checks: z.array(
    z.strictObject({
      name: z.string(),
      state: z.enum(['ok', 'not checked', 'warning', 'problem']),
      found: z.string(),
      nextStep: z.string().nullable(),
    }),
  ),
});

/** Warnings and problems by name, as `state: found Next: nextStep`. */
async function diagnose(changes: Readonly<Record<string, string>> = {}, now?: () => Date) {
  const { code, stdout } = await volleyInProcess(['doctor', '--json'], {
    cwd: workspace.folder,
    env: { ...env, ...changes },
    ...(now && { now }),
  });
  for (const secret of ['the-right-token', 'a-token-that-is-long-enough', 'kkkk'])
    expect(stdout).not.toContain(secret);
  const { state, checks } = resultSchema.parse(JSON.parse(stdout));
  const found = Object.fromEntries(
    checks
      // The disk of the tests may be nearly full.
      .filter(({ name, state }) => (state === 'warning' || state === 'problem') && name !== 'state folder')
      .map((check) => [check.name, `${check.state}: ${check.found} Next: ${check.nextStep}`]),
  );
  return { code, state, checks, found };
}

test('a healthy installation with a running volley serve has no warning and no problem', async () => {
  await startServe();
  while ((await statement('SELECT FROM schedules')).length === 0) await sleep(20);
  const { code, checks, found } = await diagnose();
  expect(found).toEqual({});
  expect(code).toBe(0);
  expect(Object.fromEntries(checks.map(({ name, found: words }) => [name, words]))).toMatchObject({
    workers: '1 worker runs.',
    schedules: expect.stringMatching(/^1 schedule kept by a running process; the next run is in/),
    'credential sandbox': 'The interface rest-2.02 answers, and accepts the credential.',
    [`service ${sandbox.url}`]: 'It accepts connections, without TLS.',
    receiver: expect.stringContaining('answers from here, which does not prove that it does from outside'),
  });
  receiver.stop();
  expect((await receiver.ended).code).toBe(0);
  // The faults below are of schedules and workers too.
  await startServe('--no-worker', '--no-schedules');
});

test('doctor finds a wrong port of the database', async () => {
  const url = new URL(opened.url);
  const other = `postgres://volley@127.0.0.1:${await freePort()}${url.pathname}`;
  const { code, found, checks } = await diagnose({ DATABASE_URL: other });
  expect(code).toBe(3);
  expect(found).toEqual({
    database: expect.stringMatching(
      /^problem: Postgres at 127\.0\.0\.1:\d+\/\S+ cannot be reached: connection refused\. Next: Start Postgres there, or correct host and port in DATABASE_URL/,
    ),
  });
  expect(checks.find(({ name }) => name === 'schedules')).toMatchObject({
    state: 'not checked',
    found: 'The database cannot be used.',
  });
});

test('doctor finds a ledger of an older version, and does not migrate it', async () => {
  const last = 'SELECT max(id) FROM knex_migrations';
  const [row] = await statement(`DELETE FROM knex_migrations WHERE id = (${last}) RETURNING *`);
  const { code, found } = await diagnose();
  expect(await statement(`SELECT FROM knex_migrations WHERE id = ${row?.['id']}`)).toEqual([]);
  await runStatement(opened.url, 'INSERT INTO knex_migrations (id, name, batch) VALUES ($1, $2, 1)', [
    String(row?.['id']),
    String(row?.['name']),
  ]);
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      migrations: `problem: The ledger is of an older Volley, ${readVersion()} (1 migration missing). Next: Run \`volley db migrate\`, as the owner of the tables.`,
    },
  });
});

test('doctor finds a right that the role lacks', async () => {
  const tables = 'ALL TABLES IN SCHEMA public, volley_queue';
  for (const text of [
    `CREATE ROLE ${role} LOGIN PASSWORD 'another password'`,
    `GRANT USAGE ON SCHEMA volley_queue TO ${role}`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ${tables} TO ${role}`,
    `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public, volley_queue TO ${role}`,
  ])
    await statement(text);
  const url = new URL(opened.url);
  url.username = role;
  url.password = encodeURIComponent('another password');
  expect((await diagnose({ DATABASE_URL: url.href })).found).toEqual({});
  await statement(`REVOKE DELETE ON inbox_queue FROM ${role}`);
  const { code, found } = await diagnose({ DATABASE_URL: url.href });
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      rights: `problem: The role ${role} lacks DELETE on table inbox_queue. Next: As the owner of the tables, run the GRANT statements of docs/how-to/deployment.md.`,
    },
  });
});

test('doctor finds a secret that is not set', async () => {
  const { code, found } = await diagnose({ VOLLEY_SANDBOX_TOKEN: '' });
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      'account sandbox':
        'problem: campaigns/accounts.yaml:5:16: Environment variable VOLLEY_SANDBOX_TOKEN is not set. Next: Set VOLLEY_SANDBOX_TOKEN in the environment, or in .env, which does not exist.',
    },
  });
});

test('doctor finds a token that the service refuses, and sends nothing', async () => {
  const { code, found } = await diagnose({ VOLLEY_SANDBOX_TOKEN: 'a-wrong-token' });
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      'credential sandbox': expect.stringMatching(
        /^problem: The service refuses it \(.+\)\. Next: Set the secret/,
      ),
    },
  });
});

test('doctor finds an expired certificate of the service', async () => {
  const fixture = (name: string) =>
    readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), 'utf8');
  const cert = fixture('expired-certificate');
  await using service = await listening(createServer({ cert, key: fixture('key') }));
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, cert]);
  const { code, found } = await diagnose({ VOLLEY_SANDBOX_URL: `https://127.0.0.1:${service.port}` });
  setDefaultCACertificates(trusted);
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      [`service https://127.0.0.1:${service.port}`]: expect.stringMatching(
        /^problem: It cannot be reached: TLS failed: its certificate has expired .*Next: Its operator must renew the certificate/,
      ),
    },
  });
});

test('a sandbox that does not run is no problem, and a service that does not run is one', async () => {
  const port = await freePort();
  const { code, checks } = await diagnose({ VOLLEY_SANDBOX_URL: `http://127.0.0.1:${port}` });
  expect(code).toBe(0);
  expect(checks.filter(({ state }) => state === 'not checked').map(({ name }) => name)).toEqual(
    expect.arrayContaining([`service http://127.0.0.1:${port}`, 'credential sandbox']),
  );
  const { found } = await diagnose({ VOLLEY_SANDBOX_URL: 'https://service.invalid' });
  expect(found['service https://service.invalid']).toMatch(
    /^problem: It cannot be reached: host name .+ Next: Check "baseUrl"/,
  );
});

test('doctor finds a public address where nothing listens', async () => {
  const { code, found } = await diagnose({ VOLLEY_PUBLIC_URL: `http://127.0.0.1:${await freePort()}` });
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      receiver: expect.stringMatching(
        /^problem: .+ \(VOLLEY_PUBLIC_URL\) cannot be reached from here: connection refused\. .+Next: Start `volley serve`/,
      ),
    },
  });
});

test('doctor warns of pages that cross the network unencrypted', async () => {
  const { found } = await diagnose({ VOLLEY_DASHBOARD_URL: 'http://volley.example' });
  expect(found['dashboard']).toMatch(/^warning: VOLLEY_DASHBOARD_URL is http:.+Next: Put a proxy with TLS/);
  const { checks } = await diagnose({ VOLLEY_DASHBOARD_URL: 'https://volley.example' });
  expect(checks.find(({ name }) => name === 'dashboard')?.state).toBe('ok');
});

test('doctor warns of an API that other machines reach without TLS, as volley serve does at its start', async () => {
  const apiPort = await freePort();
  const dashboard = async (changes: Readonly<Record<string, string>> = {}) => {
    const checks = await diagnoseInstallation({
      settings: { environment: { ...env, ...changes }, workingFolder: workspace.folder },
      campaigns: 'campaigns',
      now: () => new Date(),
      randomUuid: randomUUID,
      nodeVersion: process.version,
      apiPort,
    });
    return checks.find(({ name }) => name === 'dashboard');
  };
  const words = ['--no-receiver', '--no-worker', '--no-schedules', '--port', '0', '--api-host', '0.0.0.0'];
  const serve = startInProcess(['serve', ...words, '--api-port', String(apiPort)], {
    cwd: workspace.folder,
    env,
  });
  await serve.waitForText('API: ');
  const risk = /Other machines reach the API at \S+ without TLS, so tokens and pages cross the network/;
  expect(serve.stderrSoFar()).toMatch(risk);
  expect(await dashboard()).toMatchObject({
    state: 'warning',
    found: expect.stringMatching(risk),
    nextStep: expect.stringContaining('or omit --api-host'),
  });
  expect(await dashboard({ VOLLEY_DASHBOARD_URL: 'https://volley.example' })).toMatchObject({ state: 'ok' });
  serve.stop();
  await serve.ended;
  expect(await dashboard()).toMatchObject({
    state: 'ok',
    found: `No API answers other machines at port ${apiPort} of this machine.`,
  });
});

test('doctor finds a schedule that no process starts, and how many of its times have passed', async () => {
  await statement("UPDATE schedules SET recorded_until = clock_timestamp() - interval '50 hours'");
  const { code, found } = await diagnose();
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      schedules: expect.stringMatching(
        /^problem: No process starts 1 schedule \(nightly\.yaml\), for 2 days; [23] times passed without a run\. Next: Start `volley serve` or `volley worker`/,
      ),
    },
  });
});

test('doctor finds delivery reports that are missing for two days', async () => {
  const { code: ended } = await command('run', 'campaigns/once.yaml');
  expect(ended).toBe(0);
  expect((await diagnose()).found).toEqual({});
  await statement("UPDATE billing_entries SET sent = sent - interval '50 hours'");
  const { code, found } = await diagnose();
  await statement("UPDATE billing_entries SET sent = sent + interval '50 hours'");
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      'delivery reports': expect.stringMatching(
        /^problem: 4 recipients without a final delivery report for a day or longer, the oldest for 2 days \(account sandbox\)\. None has ever arrived\. Next: .*volley delivery-reports missing --older-than 1d/,
      ),
    },
  });
});

test('doctor finds that the clocks differ', async () => {
  const { code, found } = await diagnose({}, () => new Date(Date.now() - 300_500));
  expect(code).toBe(3);
  expect(found['clock']).toMatch(
    /^problem: The clock of the database is 5 minutes ahead of this machine's.+Next: Compare both with the true time/,
  );
});

test('doctor finds that the key of hashed suppressions is gone', async () => {
  await command('suppress', 'add', '+61412000001', '--channel', 'sms');
  await statement("UPDATE suppressions SET created_at = created_at - interval '2 days'");
  expect((await command('purge', '--older-than', '1d', '--yes')).code).toBe(0);
  expect((await diagnose()).found).toEqual({});
  const { code, found } = await diagnose({ VOLLEY_HASH_KEY: '' });
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      'hash key': expect.stringMatching(
        /^problem: VOLLEY_HASH_KEY: Suppressed addresses are stored as hashes .+ Next: Set VOLLEY_HASH_KEY to the key of the machine/,
      ),
    },
  });
});

test('doctor finds an unfinished run without a worker, and a run that waits for a person', async () => {
  const { stdout } = await command('run', 'campaigns/once.yaml', '--json');
  const { run } = JSON.parse(stdout);
  await statement(`UPDATE runs SET state = 'running', finished_at = NULL WHERE run_id = '${run}'`);
  const unfinished = await diagnose();
  await statement(`UPDATE runs SET state = 'paused', state_reason = '"an operator"' WHERE run_id = '${run}'`);
  const paused = await diagnose();
  const strict = await command('doctor', '--strict', '--quiet');
  await command('cancel', run);
  expect(unfinished).toMatchObject({
    code: 3,
    found: {
      workers: expect.stringContaining(`problem: No worker runs, and 1 run is unfinished: ${run}. Next: `),
    },
  });
  expect(paused).toMatchObject({
    code: 0,
    state: 'warning',
    found: { runs: expect.stringMatching(/^warning: .+ waits for a person \(paused: an operator\)/) },
  });
  expect(strict).toMatchObject({ code: 3, stdout: expect.stringMatching(/^warning +runs: Run .+\n$/) });
});

test('doctor names the session that holds an old snapshot', async () => {
  const forgotten = new Client({ connectionString: opened.url, application_name: 'nightly copy' });
  await forgotten.connect();
  await forgotten.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows } = await forgotten.query<{ pid: number }>(
    'SELECT pg_backend_pid() AS pid, count(*) FROM runs',
  );
  const pid = rows[0]?.pid;
  const inMinutes = (minutes: number) => () => new Date(Date.now() + minutes * 60_000);
  const soon = await diagnose({}, inMinutes(1));
  const later = await diagnose({}, inMinutes(45));
  await forgotten.end();
  expect(soon.found).not.toHaveProperty('snapshots');
  expect(later.found['snapshots']).toMatch(
    new RegExp(
      `^warning: Session ${pid} of Postgres \\(nightly copy, role volley, idle in transaction\\) has a transaction open since \\d{4}-\\S+Z, for 4[45] minutes\\..+ Next: .*SELECT pg_terminate_backend\\(${pid}\\)`,
    ),
  );
});

test('doctor finds a ledger that was restored from a backup', async () => {
  const backup = await backUpLedger(opened.url);
  expect((await command('run', 'campaigns/once.yaml')).code).toBe(0);
  await backup.restore();
  await statement('UPDATE schedules SET recorded_until = clock_timestamp()');
  const { code, found } = await diagnose();
  expect({ code, found }).toEqual({
    code: 3,
    found: {
      ledger: expect.stringMatching(
        /^problem: This machine claimed a request at .+ that the ledger lacks: .+ Next: .*`volley db restored --since TIME --reason …`/,
      ),
    },
  });
  expect(await statement('SELECT FROM ledger_location WHERE held_at IS NOT NULL')).toEqual([]);
});

test('doctor makes nothing in a folder without a project, and says how to make one', async () => {
  await using empty = await makeWorkspace();
  const { code, stdout } = await volleyInProcess(['doctor'], { cwd: empty.folder });
  expect(code).toBe(3);
  expect(stdout).toMatch(/^problem {6}project: .+ is in no Volley project .+ Next: .+`volley init`/m);
  expect(readdirSync(empty.folder)).toEqual([]);
});

test('doctor --quiet prints only warnings and problems, each in one line', async () => {
  await workspace.write('new/weekly.yaml', scheduled);
  const { stdout } = await command('doctor', '--quiet', '--campaigns', 'new');
  expect(stdout).toMatch(/^warning {6}schedules: No process starts .+ \(.*weekly\.yaml\)/m);
  expect(
    stdout
      .trimEnd()
      .split('\n')
      .filter((line) => !/^(warning|problem) /.test(line)),
  ).toEqual([]);
});
