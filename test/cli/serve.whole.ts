import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { digestOf } from '../../src/platform/digest.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { freePort } from '../support/free-port.ts';
import type { TestLedger } from '../support/ledger.ts';
import { useLedgerScene } from '../support/ledger-scene.ts';
import { readMetrics } from '../support/metrics.ts';
import { startInProcess, startVolley, volleyInProcess } from '../support/volley.ts';
import { accountsYaml, contactsCsv, makeWorkspace, smsCampaignYaml } from '../support/workspace.ts';

const token = 'webhook-token-of-22-characters-or-more';

const accounts = `accounts:
  main:
    interface: rest-2.02
    baseUrl: https://service.example
    authToken: \${NOT_SET}
    webhookTokenSha256: ${digestOf(token).toString('hex')}
    receiver: { basic: { user: volley, password: "\${PASSWORD}" } }
  "north & south/1":
    interface: rest-2.02
    baseUrl: https://service.example
    authToken: \${NOT_SET}
    webhookToken: \${HOOK}
`;

const scene = useLedgerScene({ 'accounts.yaml': accounts });

const surroundings = (more: Readonly<Record<string, string>> = {}) => ({
  cwd: scene.workspace.folder,
  env: {
    DATABASE_URL: scene.opened.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    HOOK: `${token}-2`,
    PASSWORD: 'hunter2',
    ...more,
  },
});

test('serve prints the public webhook address of each account, without token or password', async () => {
  const outside = { VOLLEY_PUBLIC_URL: 'https://hooks.example/volley/', LOG_LEVEL: 'silent' };
  const server = startInProcess(['serve', '--no-api', '--port', '0'], surroundings(outside));
  await server.waitForText('Delivery reports of account north');
  server.stop();
  const { code, stderr } = await server.ended;
  expect(code).toBe(0);
  expect(stderr).toContain(
    'Delivery reports of account main: POST https://hooks.example/volley/webhook/main/<its webhookToken>\n',
  );
  expect(stderr).toContain(
    'POST https://hooks.example/volley/webhook/north%20%26%20south%2F1/<its webhookToken>\n',
  );
  expect(stderr).not.toContain(token);
  expect(stderr).not.toContain('hunter2');
});

test('serve warns of an API that other machines reach without TLS, and not behind a proxy that has it', async () => {
  const start = async (host: string, address?: string): Promise<string> => {
    const words = [
      'serve',
      '--no-receiver',
      '--no-worker',
      '--no-schedules',
      '--port',
      '0',
      '--api-port',
      '0',
    ];
    const more = { LOG_LEVEL: 'silent', ...(address !== undefined && { VOLLEY_DASHBOARD_URL: address }) };
    const server = startInProcess([...words, '--api-host', host], surroundings(more));
    await Promise.race([server.waitForText('Dashboard: '), server.ended]);
    server.stop();
    return (await server.ended).stderr;
  };
  expect(await start('0.0.0.0')).toMatch(
    /^Warning: Other machines reach the API at 0\.0\.0\.0 without TLS, .*VOLLEY_DASHBOARD_URL/m,
  );
  expect(await start('127.0.0.1', 'http://volley.example')).toMatch(
    /^Warning: VOLLEY_DASHBOARD_URL is http:, /m,
  );
  expect(await start('0.0.0.0', 'https://volley.example')).not.toContain('Warning:');
  expect(await start('127.0.0.1', 'http://127.0.0.1:8027')).not.toContain('Warning:');
});

test.each([
  'hooks.example',
  'ftp://hooks.example',
  'https://ann:hunter2@hooks.example',
  'https://h.example/?a=b',
])('serve refuses %s as its public address, and does not print it', async (url) => {
  const { code, stderr } = await volleyInProcess(
    ['serve', '--no-api', '--port', '0'],
    surroundings({ VOLLEY_PUBLIC_URL: url }),
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(/VOLLEY_PUBLIC_URL: expected an http:\/\/ or https:\/\/ address/);
  expect(stderr).not.toContain('hunter2');
});

test('serve helps to send, and drains: it records requests in flight and releases its slices', async () => {
  await using sending = await openDispatchScene({ requests: 400, concurrency: 4, peer: { latency: 400 } });
  await sending.plan();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const serve = sending.start([
    'serve',
    '--no-receiver',
    '--no-api',
    '--no-schedules',
    '--port',
    String(port),
  ]);
  const accepted = 'volley_requests_settled_total{account="sandbox",state="accepted"}';
  await serve.waitForText('Monitoring');
  while (((await readMetrics(url)).get(accepted) ?? 0) < 4) await sleep(50);
  serve.process.kill('SIGTERM');
  const draining = await fetch(`${url}/readyz`);
  expect({ status: draining.status, ...JSON.parse(await draining.text()) }).toMatchObject({
    status: 503,
    problems: ['draining: the process is about to end'],
  });
  const { code, stderr } = await serve.ended;
  expect(code, stderr).toBe(0);
  expect((await states(sending.ledger, 'sending')).rows).toEqual([]);
  expect((await states(sending.ledger, 'planned')).rows).not.toEqual([]);
  expect((await states(sending.ledger, 'in_doubt')).rows).toEqual([]);
  const held = await sending.ledger.ledger.pool.query(`SELECT FROM slices WHERE state = 'held'`);
  expect(held.rowCount).toBe(0);
});

const states = ({ ledger }: TestLedger, state: string) =>
  ledger.pool.query<{ request: number }>('SELECT request FROM request_states WHERE state = $1 ORDER BY 1', [
    state,
  ]);

test('serve listens on loopback and checks token and password, and with --metrics-port monitors on that port only', async () => {
  const words = ['serve', '--no-api', '--no-worker', '--no-schedules', '--port', '0', '--metrics-port', '0'];
  const server = startVolley(words, surroundings());
  await server.waitForText('Delivery reports of account north');
  const url = /Monitoring: (http:\/\/127\.0\.0\.1:\d+)\/healthz/.exec(server.stderrSoFar())?.[1] ?? '';
  expect((await readMetrics(url)).get('volley_database_up')).toBe(1);
  const receiver = /POST (http:\/\/127\.0\.0\.1:\d+)\/webhook\/main/.exec(server.stderrSoFar())?.[1];
  const statusOf = async (path: string, init: RequestInit = {}) =>
    (await fetch(`${receiver}${path}`, init)).status;
  const headers = { Authorization: `Basic ${btoa('volley:hunter2')}` };
  expect(await statusOf(`/webhook/main/${token}`, { method: 'POST', body: '{}', headers })).toBe(200);
  expect(await statusOf(`/webhook/main/${token}`, { method: 'POST', body: '{}' })).toBe(404);
  expect(await statusOf(`/webhook/north%20%26%20south%2F1/${token}-2?Status=SUCCESS`)).toBe(200);
  expect(await statusOf('/healthz')).toBe(200);
  expect([await statusOf('/metrics'), await statusOf('/readyz')]).toEqual([404, 404]);
  server.process.kill('SIGTERM');
  const { code, stderr } = await server.ended;
  expect(code, stderr).toBe(0);
  expect(stderr).not.toContain('worker started');
  expect(stderr).toContain('"check":"basic"');
  expect(stderr).not.toContain(token);
});

test.each([
  [['--no-receiver', '--no-api', '--no-worker', '--no-schedules'], 'There is nothing to do'],
  [['--metrics-host', '0.0.0.0'], 'It needs --metrics-port'],
])('serve %j is refused', async (words, reason) => {
  const { code, stderr } = await volleyInProcess(['serve', ...words], surroundings());
  expect(code).toBe(2);
  expect(stderr).toContain(reason);
});

test('the API has its own port, and the worker of the same process sends the runs that it starts', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const sandbox = cleanUp.adopt(await startSandbox(), (it) => it.close());
  const files = {
    'accounts.yaml': accountsYaml,
    'campaigns/contacts.csv': contactsCsv(3),
    'campaigns/payroll.yaml': smsCampaignYaml,
  };
  const { folder } = cleanUp.use(await makeWorkspace(files));
  const env = { ...surroundings().env, VOLLEY_SANDBOX_URL: sandbox.url, VOLLEY_SANDBOX_TOKEN: 'any' };
  const options = { cwd: folder, env: { ...env, VOLLEY_WEBHOOK_TOKEN: token } };
  const created = await volleyInProcess(['token', 'create', '--name', 'desk', '--scope', 'run'], options);
  const authorization = `Bearer ${created.stdout.trim()}`;
  const port = await freePort();
  const server = startVolley(['serve', '--no-schedules', '--port', String(port), '--api-port', '0'], options);
  await server.waitForText('API: ');
  const url = /API: (http:\/\/127\.0\.0\.1:\d+\/api\/v1)\n/.exec(server.stderrSoFar())?.[1];
  const elsewhere = await fetch(`http://127.0.0.1:${port}/api/v1/runs`, { headers: { authorization } });
  expect(elsewhere.status).toBe(404);

  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': 'november' };
  const body = '{"campaign":"payroll.yaml"}';
  const answer = await fetch(`${url}/runs`, { method: 'POST', headers, body });
  const status = `${url}/runs/${JSON.parse(await answer.text()).run}`;
  const summary = async () => JSON.parse(await (await fetch(status, { headers: { authorization } })).text());
  while ((await summary()).state !== 'completed') await sleep(50);
  expect(await summary()).toMatchObject({ requests: { total: 3, accepted: 3 } });

  server.process.kill('SIGTERM');
  const { code, stderr } = await server.ended;
  expect(code, stderr).toBe(0);
  expect(stderr).not.toContain(created.stdout.trim());
});

test('a port in use is reported with the option that names it', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const other = createServer().listen(0, '127.0.0.1');
  cleanUp.defer(async () => void other.close());
  await once(other, 'listening');
  const { port } = z.object({ port: z.number() }).parse(other.address());
  const words = ['serve', '--no-receiver', '--no-worker', '--no-schedules', '--api-port', String(port)];
  const { code, stderr } = await volleyInProcess([...words, '--metrics-port', '0'], surroundings());
  expect([code, stderr]).toEqual([2, expect.stringContaining(`--api-port ${port}: Port ${port} is in use`)]);
});
