import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { fastify } from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import type { EngineContext } from '../../src/engine/context.ts';
import { openLedger } from '../../src/ledger/connection.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import {
  addOperations,
  createOperations,
  type Operations,
  refuseOtherMachines,
  startOperations,
} from '../../src/server/operations.ts';
import { startReceiver } from '../../src/server/receiver.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { aContact, aRun, contextOf, planContacts } from '../support/ledger.ts';
import { readMetrics } from '../support/metrics.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { receiverOptions, token } from '../support/receiver.ts';
import { testLedger } from '../support/test-ledger.ts';

const opened = testLedger();
beforeEach(async () => {
  await emptyLedger(opened.ledger.pool);
});

const never = (): boolean => false;

function operationsOf(context: EngineContext = opened.context, draining = never): Operations {
  return createOperations(context, createMetrics({ includeNode: false }), draining);
}

async function served(
  cleanUp: AsyncDisposableStack,
  operations: Operations = operationsOf(),
  listening: { readonly host: string; readonly names: readonly string[] } = { host: '127.0.0.1', names: [] },
): Promise<string> {
  const { url, close } = await startOperations(
    operations,
    { host: listening.host, port: 0 },
    listening.names,
  );
  cleanUp.defer(close);
  return url;
}

async function readyz(url: string): Promise<unknown> {
  const answer = await fetch(`${url}/readyz`);
  return { status: answer.status, ...JSON.parse(await answer.text()) };
}

test('a process is ready when its database answers and has its migrations', async () => {
  await using cleanUp = new AsyncDisposableStack();
  expect(await readyz(await served(cleanUp))).toEqual({
    status: 200,
    ready: true,
    problems: [],
    warnings: [],
  });
});

test('a process that drains is not ready', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const url = await served(
    cleanUp,
    operationsOf(opened.context, () => true),
  );
  expect(await readyz(url)).toMatchObject({
    status: 503,
    problems: ['draining: the process is about to end'],
  });
});

test('a process without a migration, or with one of a newer Volley, is not ready and names it', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { pool } = opened.ledger;
  await pool.query(`INSERT INTO knex_migrations (name) VALUES ('29990101000000_later')`);
  const newer = await readyz(await served(cleanUp));
  await pool.query(`UPDATE knex_migrations SET name = '20261122000007_schedules' WHERE name ~ '_later'`);
  await pool.query(`DELETE FROM knex_migrations WHERE name ~ '_schedules'`);
  const older = await readyz(await served(cleanUp));
  await pool.query(`INSERT INTO knex_migrations (name) VALUES ('20261122000007_schedules')`);
  expect(newer).toMatchObject({
    status: 503,
    problems: [
      expect.stringMatching(
        /^database: the ledger is of a newer Volley, 0\..* does not know 1 migration \(29990101000000_later\)$/,
      ),
    ],
  });
  expect(older).toMatchObject({
    status: 503,
    problems: [
      expect.stringMatching(/^database: the ledger is of an older Volley, 0\..* \(1 migration missing\)$/),
    ],
  });
});

test('a database that hangs does not delay the three answers: alive, not ready, no figures of the ledger', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const proxy = cleanUp.use(await startPostgresProxy(opened.url));
  const ledger = await openLedger({ connectionString: proxy.url }, 'test database');
  cleanUp.defer(async () => {
    ledger.dropConnections();
    proxy.stop();
    await ledger.close();
  });
  let time = 0;
  const url = await served(cleanUp, operationsOf({ ...contextOf(ledger), monotonic: () => time }));
  expect((await readMetrics(url)).get('volley_database_up')).toBe(1);
  proxy.hang();
  time += 60_000;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await readyz(url)).toMatchObject({
    status: 503,
    problems: [expect.stringMatching(/^database: unusable/)],
  });
  const figures = await readMetrics(url);
  expect(figures.get('volley_database_up')).toBe(0);
  expect(
    [...figures.keys()].filter((name) => /inbox|unknown|next|slices|ticks|notifications/.test(name)),
  ).toEqual([]);
}, 10_000);

test('the figures of the ledger equal its small tables', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const { pool } = opened.ledger;
  const contacts = Array.from({ length: 3 }, (_, index) => aContact(index + 2));
  const run = await planContacts(opened.ledger, aRun({ chunkSize: 1 }), contacts);
  await pool.query(
    'INSERT INTO slices (run_id, slice, first_request, last_request, claimed_to, state) VALUES ($1, 3, 2, 3, 1, $2)',
    [run, 'waiting'],
  );
  await pool.query(`
    INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes)
    VALUES (now() - interval '90 seconds', 1, 3, 3, 1), (now(), 4, 4, 1, 1), (now() + interval '1 hour', 5, 6, 2, 1)
  `);
  await pool.query(`
    INSERT INTO unusual_delivery_reports (report_id, account, received_at, state)
    SELECT number, 'main', now() - CASE WHEN number = 1 THEN interval '31 days' ELSE interval '1 day' END,
           CASE WHEN number < 4 THEN 'unreadable' ELSE 'unmatched' END
    FROM generate_series(1, 6) number
  `);
  await pool.query(
    `INSERT INTO run_counts (run_id, counted, requests, recipients)
     VALUES ($1, 'in_doubt', 2, 7), ($1, 'abandoned', 1, 1), ($1, 'in_doubt', -1, -3)`,
    [run],
  );
  await pool.query(`
    INSERT INTO schedules (schedule, campaign, times, active, recorded_until)
    SELECT name, name, '{"at":["2999-01-01T00:00"],"timeZone":"UTC","catchUp":0,"overlap":"skip"}', true, now()
    FROM unnest('{a.yaml,b.yaml}'::text[]) name;
    INSERT INTO ticks (schedule, due_at, state)
    SELECT 'a.yaml', now() - number * interval '1 hour', CASE WHEN number < 3 THEN 'missed' ELSE 'failed' END
    FROM generate_series(1, 5) number
  `);
  await pool.query(`
    INSERT INTO notifications (schedule, tick, target_index, event, target, created_at, state, ended_at)
    SELECT 'a.yaml', now(), number, 'missed', '{}', now() - number * interval '2 minutes',
           CASE WHEN number < 5 THEN 'due' WHEN number = 5 THEN 'acknowledged' ELSE 'given up' END,
           CASE WHEN number >= 5 THEN now() END
    FROM generate_series(1, 8) number
  `);
  await pool.query(`
    INSERT INTO account_breakers (account, opened_at, retry_at, refusals, reason)
    VALUES ('sandbox', now() - interval '70 seconds', now(), 9, 'HTTP 503')
  `);
  await pool.query("UPDATE runs SET state = 'running' WHERE run_id = $1", [run]);
  const figures = await readMetrics(await served(cleanUp));
  expect(Object.fromEntries(figures)).toMatchObject({
    'volley_notifications{state="overdue"}': 2,
    'volley_notifications{state="given up"}': 3,
    'volley_slices{account="sandbox",phase="sending",state="waiting"}': 2,
    'volley_inbox_delivery_reports{state="due"}': 4,
    'volley_inbox_delivery_reports{state="later"}': 2,
    'volley_delivery_reports_undecided{state="unreadable"}': 2,
    'volley_delivery_reports_undecided{state="unmatched"}': 3,
    volley_recipients_unknown: 5,
    'volley_schedule_ticks{state="missed"}': 2,
    'volley_schedule_ticks{state="failed"}': 3,
    volley_schedule_next_timestamp_seconds: Date.UTC(2999, 0) / 1000,
  });
  expect(figures.get('volley_inbox_lag_seconds')).toBeGreaterThanOrEqual(90);
  const refused = 'volley_account_refused_seconds{account="sandbox"}';
  expect(figures.get(refused)).toBeGreaterThanOrEqual(70);
  // Nobody asks the service while the run is paused.
  await pool.query("UPDATE runs SET state = 'paused' WHERE run_id = $1", [run]);
  expect((await readMetrics(await served(cleanUp))).get(refused)).toBeUndefined();
});

test('the database is asked for its figures once in five seconds, for any number of scrapes', async () => {
  await using cleanUp = new AsyncDisposableStack();
  let time = 0;
  const url = await served(cleanUp, operationsOf({ ...opened.context, monotonic: () => time }));
  const due = async () => (await readMetrics(url)).get('volley_inbox_delivery_reports{state="due"}');
  expect(await due()).toBe(0);
  await opened.ledger.pool.query(
    `INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes) VALUES (now() - interval '1 hour', 1, 1, 1, 1)`,
  );
  time += 4_900;
  expect(await Promise.all([due(), due(), due()])).toEqual([0, 0, 0]);
  time += 200;
  expect(await due()).toBe(1);
});

test.each([
  ['192.0.2.1', {}],
  ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }],
  ['127.0.0.1', { via: '1.1 proxy' }],
  // A proxy with this header only, and a page in a local browser whose name resolves to 127.0.0.1.
  ['127.0.0.1', { host: 'hooks.example' }],
  ['127.0.0.1', { host: 'localhost.evil.example:8026' }],
])('a caller from %s with %j is answered 404', async (remoteAddress, headers) => {
  const server = fastify();
  addOperations(
    server,
    operationsOf(),
    refuseOtherMachines((_request, reply) => reply.code(404).send()),
  );
  for (const url of ['/readyz', '/metrics']) {
    expect((await server.inject({ url, remoteAddress, headers })).statusCode).toBe(404);
    expect((await server.inject({ url, remoteAddress: '::1' })).statusCode).toBe(200);
  }
  await server.close();
});

test.each(['localhost:8026', '127.0.0.1', '[::1]:8026'])(
  'a caller that names %s is a program of this machine',
  async (host) => {
    const server = fastify();
    addOperations(
      server,
      operationsOf(),
      refuseOtherMachines((_request, reply) => reply.code(404).send()),
    );
    expect((await server.inject({ url: '/readyz', headers: { host } })).statusCode).toBe(200);
    await server.close();
  },
);

test.each([
  ['127.0.0.1', 'evil.example', 421],
  ['127.0.0.1', '192.0.2.7:9026', 421],
  ['127.0.0.1', 'localhost:9026', 200],
  ['127.0.0.1', 'Volley.internal:9026', 200],
  ['0.0.0.0', 'evil.example:9026', 421],
  ['0.0.0.0', '192.0.2.7:9026', 200],
  ['0.0.0.0', 'volley.internal', 200],
])('the monitoring listener on %s answers a caller that names %s with %i', async (host, name, status) => {
  await using cleanUp = new AsyncDisposableStack();
  const url = await served(cleanUp, operationsOf(), { host, names: ['volley.internal'] });
  const port = Number(new URL(url).port);
  expect(await statusNamed(port, '/metrics', name)).toBe(status);
  expect(await statusNamed(port, '/healthz', name)).toBe(200);
});

/** `fetch` cannot set a `Host` header. */
async function statusNamed(port: number, path: string, name: string): Promise<number | undefined> {
  const call = get({ host: '127.0.0.1', port, path, headers: { host: name } });
  const [answer]: IncomingMessage[] = await once(call, 'response');
  answer?.resume();
  return answer?.statusCode;
}

test('the receiver counts stored, applied and refused calls by account and check', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const metrics = createMetrics({ includeNode: false });
  const operations = createOperations(opened.context, metrics, never);
  const options = { ...receiverOptions(opened), operations, observer: metrics.deliveryReports };
  const receiver = await startReceiver(opened.context, options);
  cleanUp.defer(() => receiver.close());
  const call = (path: string) => fetch(receiver.url + path, { method: 'POST', body: '{"Status":"?"}' });
  for (const path of [`/webhook/main/${token}`, `/webhook/main/${token}`, '/webhook/main/none', '/none'])
    await (await call(path)).text();
  while ((await readMetrics(receiver.url)).get('volley_delivery_reports_applied_total') !== 2);
  const figures = await readMetrics(receiver.url);
  expect([...figures].filter(([name]) => /stored|refused|applied/.test(name))).toEqual([
    ['volley_delivery_reports_stored_total{account="main"}', 2],
    ['volley_calls_refused_total{check="token"}', 1],
    ['volley_calls_refused_total{check="path"}', 1],
    ['volley_delivery_reports_applied_total', 2],
  ]);
});

test('calls of the API are counted by operation and status', async () => {
  await using cleanUp = new AsyncDisposableStack();
  const metrics = createMetrics({ includeNode: false });
  const url = await served(cleanUp, createOperations(opened.context, metrics, never));
  for (const status of [200, 200, 401]) metrics.api('listRuns', status);
  const figures = await readMetrics(url);
  expect([...figures].filter(([name]) => name.includes('api'))).toEqual([
    ['volley_api_calls_total{operation="listRuns",status="200"}', 2],
    ['volley_api_calls_total{operation="listRuns",status="401"}', 1],
  ]);
});
