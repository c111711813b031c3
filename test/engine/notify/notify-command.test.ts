import { chmod, rm, symlink } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../../support/notify-scene.ts';
import { webhookSecret } from '../../support/webhook-peer.ts';

let scene: NotifyScene;
beforeAll(async () => {
  scene = await openNotifyScene();
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(async () => {
  await emptyLedger(scene.opened.ledger.pool);
  scene.log.splice(0);
});

/** A campaign with this script as its notify command. */
async function planWithCommand(script: string, more = ''): Promise<string> {
  await scene.workspace.write('notify.sh', `#!/bin/sh\n${script}\n`);
  await chmod(`${scene.workspace.folder}/notify.sh`, 0o755);
  const run = await scene.plan(`  - { command: [./notify.sh, 'a b; $(id)'] }\n${more}`);
  await scene.send(run);
  return run;
}

test("a notify command runs in the campaign's folder, with JSON as input and the run in its environment", async () => {
  const run = await planWithCommand(
    'cat > body.json; echo "$VOLLEY_RUN $VOLLEY_EVENT $VOLLEY_NOTIFICATION $1" > names',
  );
  await scene.notifyAll();
  const [notification] = await scene.notifications(run);
  expect(notification).toMatchObject({ way: 'command', state: 'acknowledged', attempts: 1 });
  expect(await scene.workspace.read('names')).toBe(
    `${run} completed ${notification?.notification} a b; $(id)\n`,
  );
  expect(JSON.parse(await scene.workspace.read('body.json'))).toMatchObject({
    type: 'run.completed',
    data: { run, recipients: { total: 4 } },
  });
});

test('the environment of a notify command and of its parent has no secret and no database', async () => {
  await planWithCommand('env > environment; cat /proc/$PPID/environ >> environment');
  await scene.notifyAll();
  const environment = await scene.workspace.read('environment');
  expect(environment).toContain('VOLLEY_EVENT=completed');
  expect(environment).not.toMatch(/DATABASE_URL|TOKEN|SECRET|NOTIFY_URL|sandbox-token|whsec_/);
});

test('a failed notify command runs again with the same input', async () => {
  const run = await planWithCommand('cat >> input; echo >> input; test -f ready');
  await scene.notifyAll();
  expect(await scene.notifications(run)).toMatchObject([
    { state: 'due', attempts: 1, problem: 'ended with 1' },
  ]);
  await scene.workspace.write('ready', '');
  await scene.passMinutes(1);
  await scene.notifyAll();
  expect(await scene.notifications(run)).toMatchObject([{ state: 'acknowledged', attempts: 2 }]);
  const [first, second] = (await scene.workspace.read('input')).split('\n');
  expect(second).toBe(first);
});

test('the output of a notify command is logged in part, without addresses and control characters', async () => {
  await planWithCommand(
    `printf 'to ann@example.org +64211234567 \\033[2J {"level":60}\\n'; head -c 1000000 /dev/zero | tr '\\0' x`,
  );
  await scene.notifyAll();
  const [line = ''] = scene.log.filter((each) => each.includes('notify command wrote output'));
  expect(line.length).toBeLessThan(10_000);
  expect(line).toContain('to *** ***');
  expect(scene.log.join('')).not.toContain('ann@');
  expect(scene.log.join('')).not.toContain('\u001b');
});

test('a notify command is left to another process if the campaign file is not on this machine', async () => {
  const run = await planWithCommand('true');
  const { ledger } = scene.opened;
  await ledger.pool.query(`UPDATE notifications SET campaign_file = '/no/such/folder/campaign.yaml'`);
  await scene.passMinutes(30);
  await scene.notifyAll();
  expect(await scene.notifications(run)).toMatchObject([
    { state: 'due', attempts: 0, problem: 'the campaign file is not on this machine' },
  ]);
  expect(scene.log.join('')).toContain('notification still due');
  await scene.passMinutes(24 * 60);
  await scene.notifyAll();
  expect(await scene.notifications(run)).toMatchObject([{ state: 'given up' }]);
});

test.each([
  ['beside the campaigns folder', async () => {}],
  [
    'behind a link in the campaigns folder',
    async () => {
      await symlink('../campaign.yaml', `${scene.workspace.folder}/campaigns/linked.yaml`);
      await scene.opened.ledger.pool.query(
        `UPDATE notifications SET campaign_file = replace(campaign_file, 'campaign.yaml', 'campaigns/linked.yaml')`,
      );
    },
  ],
])('no notify command of a campaign %s runs, unless this process runs that campaign', async (_, arrange) => {
  await scene.workspace.write('campaigns/other.yaml', '');
  const run = await planWithCommand('touch ran');
  await arrange();
  await scene.notifyAll({ campaigns: 'campaigns' });
  expect(await scene.notifications(run)).toMatchObject([
    {
      state: 'due',
      attempts: 0,
      problem: expect.stringContaining("not in this process's campaigns folder"),
    },
  ]);
  await expect(scene.workspace.read('ran')).rejects.toThrow('ENOENT');

  await scene.passMinutes(30);
  await scene.notifyAll({ campaigns: 'campaigns', ownCampaign: 'campaign.yaml' });
  await expect(scene.workspace.read('ran')).resolves.toBe('');
  await rm(`${scene.workspace.folder}/ran`);
});

test('a notify command runs only if the campaign file on this machine contains it', async () => {
  const run = await planWithCommand('true');
  await scene.opened.ledger.pool.query(
    `UPDATE notifications SET target = jsonb_set(target, '{command}', '["touch", "made-by-the-ledger"]')`,
  );
  await scene.notifyAll();
  expect(await scene.notifications(run)).toMatchObject([
    { state: 'due', attempts: 0, problem: 'the campaign file on this machine does not contain this command' },
  ]);
  await expect(scene.workspace.read('made-by-the-ledger')).rejects.toThrow('ENOENT');
});

test('no secret of a notification is in the ledger or the log', async () => {
  await planWithCommand('exit 1', webhookNotify());
  await scene.notifyAll();
  scene.peer.answer(500);
  await scene.passMinutes(1);
  await scene.notifyAll();
  const { pool } = scene.opened.ledger;
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('public', 'volley_queue')`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const texts = [...scene.log];
  for (const { name } of tables) {
    const { rows } = await pool.query<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} t`);
    texts.push(...rows.map(({ row }) => row));
  }
  const all = texts.join('\n');
  expect(all).toContain('${NOTIFY_SECRET}');
  for (const secret of [webhookSecret, webhookSecret.slice(6), 'sandbox-token', scene.peer.url])
    expect(all).not.toContain(secret);
});
