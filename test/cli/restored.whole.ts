import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openPlanner } from '../../src/cli/serving/planner/planner.ts';
import { applyInbox } from '../../src/engine/delivery-reports/apply-inbox.ts';
import { receiveDeliveryReports } from '../../src/ledger/delivery-reports/receive.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { encodeDeliveryReport } from '../../src/wire/encode-delivery-report.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { backUpLedger } from '../support/ledger-backup.ts';
import { runStatement, urlOfDatabase } from '../support/statement.ts';
import { volleyInProcess } from '../support/volley.ts';

const silent = openLogger('silent', 'info');

const requests = 16;
let scene: DispatchScene;
beforeAll(async () => {
  scene = await openDispatchScene({ requests, concurrency: 2, peer: { latency: 5 } });
});
afterAll(() => scene[Symbol.asyncDispose]());

const counts = z.object({
  state: z.string(),
  reason: z.string().nullable(),
  held: z.string().nullable(),
  requests: z.object({ planned: z.number(), accepted: z.number(), in_doubt: z.number() }),
});

async function statusOf(run: string): Promise<z.infer<typeof counts>> {
  return counts.parse(JSON.parse((await scene.runHere(['status', run, '--json'])).stdout));
}

/** The accepted messages of the run, and the most acceptances of one. */
async function accepted(run: string): Promise<{ readonly messages: number; readonly most: number }> {
  const { rows } = await scene.ledger.ledger.pool.query<{ message_id: string }>(
    'SELECT message_id FROM request_states WHERE run_id = $1',
    [run],
  );
  const own = new Set(rows.map(({ message_id }) => message_id));
  const times = new Map<string, number>();
  for (const { messageId } of await scene.peer.acceptances())
    if (own.has(messageId)) times.set(messageId, (times.get(messageId) ?? 0) + 1);
  return { messages: times.size, most: Math.max(0, ...times.values()) };
}

async function confirm(...words: string[]): Promise<void> {
  const { code, stderr } = await scene.runHere(['db', 'restored', ...words, '--reason', 'the disk was lost']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
}
const restoredNow = () => confirm('--since', `${new Date(Date.now() - 1000).toISOString().slice(0, 19)}Z`);

test('a backup from the middle of a run sends nothing until an operator confirms it, and then no message twice', async () => {
  const run = await scene.plan();
  const before = scene.peer.received().requests;
  const sending = scene.runHere(['resume', run]);
  await scene.peer.hasReceived(before + 5);
  const backup = await backUpLedger(scene.ledger.url);
  expect((await sending).code).toBe(0);
  await backup.restore();

  const refused = await scene.runHere(['resume', run]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /This machine claimed a request at .+ that the ledger lacks: it was restored/,
  );
  expect(refused.stderr).toContain('volley db restored --since TIME');
  expect((await scene.runHere(['run', 'campaign.yaml', '--again'])).code).toBe(2);
  expect((await scene.runHere(['db', 'status'])).stdout).toMatch(/^held: This machine claimed/m);
  // Every account sees this reason.
  expect((await statusOf(run)).held).not.toContain(run);
  const lie = await scene.runHere(['db', 'restored', '--nothing-missing', '--reason', 'moved']);
  expect(lie).toMatchObject({ code: 2, stderr: expect.stringContaining('the ledger lacks') });

  await restoredNow();
  const status = await statusOf(run);
  expect(status).toMatchObject({ state: 'paused', requests: { planned: 0 } });
  expect(status.requests.in_doubt).toBeGreaterThan(0);
  expect(status.reason).toContain('the disk was lost');
  expect((await scene.runHere(['resume', run])).code).toBe(3);
  expect(await accepted(run)).toEqual({ messages: requests, most: 1 });
  // A new run belongs to the restored ledger.
  expect((await scene.runHere(['run', 'campaign.yaml', '--again'])).code).toBe(0);
});

test('the planning thread of a serving process knows the marks of its machine', async () => {
  const backup = await backUpLedger(scene.ledger.url);
  expect((await scene.runHere(['run', 'campaign.yaml', '--again'])).code).toBe(0);
  await backup.restore();
  const { context } = scene.ledger;
  const { folder } = scene.workspace;
  const planner = openPlanner(
    context,
    { environment: scene.environment, workingFolder: folder },
    '.',
    silent,
  );
  const request = { token: 'any', key: randomUUID(), campaign: 'campaign.yaml', accounts: null };
  const planned = planner.startRun(context, request);
  await expect(planned).rejects.toThrow('that the ledger lacks');
  await planner.close();
  await restoredNow();
});

test('a run that was only planned in an old backup is not sent again', async () => {
  const run = await scene.plan();
  const backup = await backUpLedger(scene.ledger.url);
  expect((await scene.runHere(['resume', run])).code).toBe(0);
  await backup.restore();
  expect((await scene.runHere(['resume', run])).code).toBe(2);
  await restoredNow();
  expect((await statusOf(run)).requests).toMatchObject({ planned: 0, accepted: 0, in_doubt: requests });
  expect(await accepted(run)).toEqual({ messages: requests, most: 1 });
});

test('a ledger that is replaced by an older one during a run stops the run', async () => {
  const run = await scene.plan();
  const before = scene.peer.received().requests;
  const backup = await backUpLedger(scene.ledger.url);
  const sending = scene.runHere(['resume', run]);
  await scene.peer.hasReceived(before + 6);
  // The rest is sent after the exchange.
  scene.peer.behave({ latency: 1_000 });
  await backup.restore();
  scene.peer.behave({ latency: 5 });
  const { code, stderr } = await sending;
  expect(stderr).toContain('that the ledger lacks');
  expect(code).toBe(4);
  await restoredNow();
  expect((await scene.runHere(['resume', run])).code).toBe(3);
  expect((await accepted(run)).most).toBe(1);
});

test('delivery reports of requests that a restored ledger never sent pause their run, and prove acceptance', async () => {
  const run = await scene.plan();
  const backup = await backUpLedger(scene.ledger.url);
  expect((await scene.runHere(['resume', run])).code).toBe(0);
  await backup.restore();
  // Without the marks, as on another machine, only the delivery reports prove it.
  await rm(join(scene.workspace.folder, '.volley', 'claims'), { recursive: true });
  const { context } = scene.ledger;
  const { rows } = await context.ledger.pool.query<{ message_id: string; address: string }>(
    `SELECT message_id, address
     FROM recipient_states
     WHERE run_id = $1 AND request <= 3 AND position = 1`,
    [run],
  );
  await receiveDeliveryReports(
    context.ledger.pool,
    randomUUID(),
    rows.map(({ message_id, address }) => {
      const { headers, body } = encodeDeliveryReport(
        {
          version: 'v2.02',
          url: 'https://volley.example/',
          type: 'SMS',
          messageId: message_id,
          destination: address,
          status: 'Success',
          result: 'delivered',
          units: {},
        },
        'json',
      );
      const contentType = headers['Content-Type'] ?? '';
      const call = { account: 'sandbox', method: 'POST', contentType, headers: {} } as const;
      return { ...call, receivedAt: new Date(), body: Buffer.from(body ?? '') };
    }),
  );
  await applyInbox(context);
  const status = await statusOf(run);
  expect(status).toMatchObject({
    state: 'paused',
    reason: expect.stringContaining('this ledger never sent'),
    requests: { planned: 0, accepted: 3, in_doubt: requests - 3 },
  });
  expect((await scene.runHere(['resume', run])).code).toBe(2);
  expect(status.held).toContain('this ledger never sent');
  expect(status.held).not.toContain(run);
  const lie = await scene.runHere(['db', 'restored', '--nothing-missing', '--reason', 'moved']);
  expect(lie).toMatchObject({ code: 2, stderr: expect.stringContaining('this ledger never sent') });
  await restoredNow();
  expect((await scene.runHere(['resume', run])).code).toBe(3);
  expect((await accepted(run)).most).toBe(1);
  const { stdout } = await scene.runHere(['billing', 'report', '--format', 'ndjson', '--by', 'Campaign']);
  expect(stdout).not.toBe('');
});

test('a copy of the ledger in another database sends nothing until an operator says what it is', async () => {
  const run = await scene.plan();
  const original = new URL(scene.ledger.url).pathname.slice(1);
  const copy = `${original}_copy`;
  const server = urlOfDatabase(scene.ledger.url, 'postgres');
  await runStatement(
    server,
    // Except Postgres's own workers, which this role cannot end.
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND usename = current_user',
    [original],
  );
  await runStatement(server, `CREATE DATABASE ${copy} TEMPLATE ${original}`);
  const env = {
    DATABASE_URL: urlOfDatabase(scene.ledger.url, copy),
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: scene.peer.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
  const there = (...words: string[]) => volleyInProcess(words, { cwd: scene.workspace.folder, env });
  const refused = await there('resume', run);
  expect(refused.stderr).toContain('was another database of this server');
  expect(refused.code).toBe(2);
  expect((await there('db', 'restored', '--nothing-missing', '--reason', 'moved at rest')).code).toBe(0);
  expect((await there('resume', run)).code).toBe(0);
});

/** A run of which the service has taken some requests, and whose process was killed. */
async function runAndKill(): Promise<string> {
  const before = scene.peer.received().requests;
  const sending = scene.start(['run', 'campaign.yaml', '--json', '--again']);
  await scene.peer.hasReceived(before + 5);
  sending.process.kill('SIGKILL');
  await sending.ended;
  const { rows } = await scene.ledger.ledger.pool.query<{ run_id: string }>(
    'SELECT run_id FROM runs ORDER BY created_at DESC LIMIT 1',
  );
  return rows[0]?.run_id ?? expect.fail('no run');
}

/** Removes what earlier tests sent, which would be found first. */
const forgetBegunRuns = () =>
  rm(join(scene.workspace.folder, '.volley', 'claims'), { recursive: true, force: true });

test('a run that is not in a restored ledger is listed, and its repetition is refused with two ways on', async () => {
  await scene.ledger.ledger.pool.query('DELETE FROM fingerprints');
  await forgetBegunRuns();
  const backup = await backUpLedger(scene.ledger.url);
  const run = await runAndKill();
  await backup.restore();
  const lie = await scene.runHere(['db', 'restored', '--nothing-missing', '--reason', 'moved']);
  expect(lie).toMatchObject({ code: 2, stderr: expect.stringContaining('the ledger lacks') });
  const since = `${new Date(Date.now() - 60_000).toISOString().slice(0, 19)}Z`;
  const said = await scene.runHere(['db', 'restored', '--since', since, '--reason', 'disk lost']);
  expect(said.stdout).toMatch(new RegExp(`^  ${run}  night, to http.*, last at 20..-`, 'm'));

  const before = scene.peer.received().requests;
  const plan = await scene.runHere(['plan', 'campaign.yaml']);
  expect(plan.stdout).toMatch(new RegExp(`repeats +This machine sent run ${run}`));
  const refused = await scene.runHere(['run', 'campaign.yaml']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(`This machine sent run ${run}, with the same message`);
  expect(refused.stderr).toContain('volley run --contacts FILE');
  expect(refused.stderr).toContain('volley run --again');
  expect((await scene.runHere(['run', 'campaign.yaml', '--limit', '3'])).code).toBe(2);
  expect(scene.peer.received().requests).toBe(before);

  // The first way: the others only. The second: all of them again.
  const [header = '', ...lines] = contactLines();
  await scene.workspace.write('others.csv', `${[header, ...lines.slice(-2)].join('\n')}\n`);
  expect((await scene.runHere(['run', 'campaign.yaml', '--contacts', 'others.csv'])).code).toBe(0);
  expect((await scene.runHere(['run', 'campaign.yaml', '--again'])).code).toBe(0);
  const repeated = await scene.runHere(['run', 'campaign.yaml']);
  expect(repeated).toMatchObject({ code: 2, stderr: expect.stringContaining('is completed since') });
});

const contactLines = (): string[] =>
  readFileSync(join(scene.workspace.folder, 'contacts.csv'), 'utf8').trim().split('\n');

test('a new, empty ledger lists the runs that this machine sent into another one, and refuses their repetition', async () => {
  await forgetBegunRuns();
  const run = await runAndKill();
  const empty = `${new URL(scene.ledger.url).pathname.slice(1)}_empty`;
  await runStatement(urlOfDatabase(scene.ledger.url, 'postgres'), `CREATE DATABASE ${empty}`);
  const env = { ...scene.environment, DATABASE_URL: urlOfDatabase(scene.ledger.url, empty) };
  const there = (...words: string[]) => volleyInProcess(words, { cwd: scene.workspace.folder, env });
  expect((await there('db', 'migrate')).stderr).toContain(`  ${run}  night, to ${scene.peer.url}`);
  const before = scene.peer.received().requests;
  const refused = await there('run', 'campaign.yaml');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`run ${run}`) });
  expect(scene.peer.received().requests).toBe(before);
  // Another service got nothing.
  const elsewhere = { ...env, VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9' };
  const plan = await volleyInProcess(['plan', 'campaign.yaml'], {
    cwd: scene.workspace.folder,
    env: elsewhere,
  });
  expect(plan.stdout).not.toContain(run);
  expect((await there('run', 'campaign.yaml', '--again')).code).toBe(0);
});
