import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { recordTicks } from '../../src/ledger/schedules/ticks.ts';
import { inTransaction } from '../../src/ledger/session.ts';
import { signalPreload } from '../support/dispatch-scene.ts';
import { emptyLedger } from '../support/empty-ledger.ts';
import { readJournal } from '../support/journal.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../support/notify-scene.ts';
import { signalVariable } from '../support/signal-points.ts';
import { startVolley, volleyInProcess } from '../support/volley.ts';
import { webhookSecret } from '../support/webhook-peer.ts';
import { smsCampaignYaml } from '../support/workspace.ts';

let scene: NotifyScene;
let env: Record<string, string>;
beforeAll(async () => {
  scene = await openNotifyScene();
  env = {
    DATABASE_URL: scene.opened.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: scene.sandbox.url,
    VOLLEY_SANDBOX_TOKEN: 'sandbox-token',
    NOTIFY_URL: scene.peer.url,
    NOTIFY_SECRET: webhookSecret,
  };
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(async () => {
  await emptyLedger(scene.opened.ledger.pool);
  scene.peer.calls.splice(0);
  scene.peer.answer(200);
});

const surroundings = () => ({ cwd: scene.workspace.folder, env });
const volley = (...words: string[]) => volleyInProcess(words, surroundings());

const mail = '  - { on: [completed], email: { to: [ops@example.org] } }\n';

/** Subjects of e-mails at the service. */
async function subjects(): Promise<(string | undefined)[]> {
  const journal = await readJournal(`${scene.workspace.folder}/journal.jsonl`);
  return journal
    .filter(({ channel, status }) => channel === 'email' && status === 200)
    .map(({ message }) => message?.fields['EmailSubject']);
}

async function writeCampaign(notify: string): Promise<void> {
  await scene.workspace.write('campaign.yaml', `${smsCampaignYaml}notify:\n${notify}`);
}

test('volley run sends its notifications without a worker, and status lists their targets', async () => {
  await writeCampaign(webhookNotify() + mail);
  const before = (await subjects()).length;
  const { code, stdout, stderr } = await volley('run', 'campaign.yaml', '--json');
  expect({ code, stderr: stderr.includes('not sent yet') }).toEqual({ code: 0, stderr: false });
  const { run } = JSON.parse(stdout);
  expect(scene.peer.calls.map(({ notification }) => notification.data['run'])).toEqual([run]);
  expect((await subjects()).slice(before)).toEqual(['Campaign test: completed, 4 sent']);
  const status = await volley('status', run);
  const mailRun = await scene.mailOf(run);
  expect(status.stdout).toContain('  notify      completed by webhook: acknowledged\n');
  expect(status.stdout).toContain(
    `  notify      completed by email: sent by run ${mailRun}, which is completed\n`,
  );
  expect(JSON.parse((await volley('status', run, '--json')).stdout)).toMatchObject({
    notifications: [
      { event: 'completed', way: 'webhook', state: 'acknowledged', attempts: 1 },
      { event: 'completed', way: 'email', state: 'acknowledged', mailRun },
    ],
  });
  expect((await volley('status', mailRun)).stdout).toContain(`Run ${mailRun}  test (summary)  completed`);
});

test('the next process sends the notifications of a killed one: no e-mail twice, and the same webhook-id', async () => {
  await writeCampaign(webhookNotify('completed') + mail);
  const before = (await subjects()).length;
  const started = startVolley(['run', 'campaign.yaml'], {
    ...surroundings(),
    env: {
      ...env,
      [signalVariable]: JSON.stringify({ signal: 'SIGKILL', point: 'notification sent', occurrence: 1 }),
    },
    nodeFlags: ['--import', signalPreload],
  });
  await started.ended;
  expect(started.process.signalCode).toBe('SIGKILL');
  await scene.passMinutes(3);
  const worker = startVolley(['worker'], surroundings());
  while ((await subjects()).length === before || scene.peer.calls.length < 2)
    await new Promise((next) => setTimeout(next, 50));
  worker.process.kill('SIGTERM');
  await worker.ended;
  expect(new Set(scene.peer.calls.map(({ id, body }) => `${id} ${body}`)).size).toBe(1);
  expect((await subjects()).slice(before)).toEqual(['Campaign test: completed, 4 sent']);
});

test('volley status lists targets that were not notified, with the reason', async () => {
  scene.peer.answer(410);
  const run = await scene.plan(webhookNotify());
  await scene.send(run);
  await scene.notifyAll();
  expect((await volley('status', run)).stdout).toContain(
    '  notify      completed by webhook: given up, 1 attempt: answered 410: the receiver wants no more notifications\n',
  );
});

test('volley schedule list names missed ticks whose notification failed', async () => {
  const target = { on: ['missed'], kind: 'webhook', url: '${NOTIFY_URL}', secret: '${NOTIFY_SECRET}' };
  const times = { cron: '0 * * * *', timeZone: 'UTC', catchUp: 0, overlap: 'skip' };
  await scene.opened.ledger.pool.query(
    `INSERT INTO schedules (schedule, campaign, times, active, recorded_until, notify)
     VALUES ('night.yaml', 'night', $1, true, now(), $2)`,
    [times, JSON.stringify([target])],
  );
  const missed = { schedule: 'night.yaml', dueAt: new Date(), state: 'missed', reason: null } as const;
  await inTransaction(scene.opened.ledger.pool, (client) =>
    recordTicks(client, ['night.yaml'], [missed], new Date()),
  );
  const { stdout, stderr } = await volley('schedule', 'list');
  expect(stdout).toContain('night.yaml');
  expect(stderr).toBe('night.yaml: missed by webhook: not sent yet\n');
});
