import { chmod } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { signalPreload } from '../support/dispatch-scene.ts';
import { readJournal } from '../support/journal.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../support/notify-scene.ts';
import { signalVariable } from '../support/signal-points.ts';
import { type Started, startVolley } from '../support/volley.ts';
import { webhookSecret } from '../support/webhook-peer.ts';

const runs = 60;
const points = [
  'slice finished',
  'notification acquired',
  'notification begun',
  'notification sent',
  'notification mailed',
  undefined,
];

test('sixty runs send every notification and no e-mail twice, while three workers are killed at every point', async () => {
  await using scene = await openNotifyScene();
  await scene.workspace.write(
    'notify.sh',
    '#!/bin/sh\ncat >/dev/null\necho "$VOLLEY_RUN $VOLLEY_NOTIFICATION" >> notified.txt\n',
  );
  await chmod(`${scene.workspace.folder}/notify.sh`, 0o755);
  const notify = `${webhookNotify()}  - { command: [./notify.sh] }\n  - { email: { to: [ops@example.org] } }\n`;
  const planned: string[] = [];
  let round = 0;
  let kills = 0;
  const { pool } = scene.opened.ledger;
  const remaining = async (): Promise<number> => {
    const { rows } = await pool.query<{ left: string }>(`
      SELECT (SELECT count(*) FROM notifications WHERE state = 'due')
             + (SELECT count(*) FROM runs WHERE state <> 'completed') AS left
    `);
    return Number(rows[0]?.left);
  };
  const isOver = async (): Promise<boolean> => planned.length === runs && (await remaining()) === 0;

  /** Kills one worker after another until all notifications are sent. */
  async function keepKilling(): Promise<void> {
    while (!(await isOver())) {
      const worker = startWorker(scene, points[round % points.length], 1 + (++round % 4));
      await worker.waitForText('worker started');
      const over = sleep(500 + Math.random() * 2_000).then(() => worker.process.kill('SIGKILL'));
      await worker.ended;
      await over;
      kills++;
      // Its acquisition would last two minutes.
      await pool.query(`UPDATE notifications SET due_at = '-infinity' WHERE state = 'due'`);
    }
  }

  const killing = Promise.all(Array.from({ length: 3 }, keepKilling));
  while (planned.length < runs) planned.push(await scene.plan(notify));
  await killing;

  const { calls, commands, sent, doubts } = await expectAllNotified(scene, planned);
  console.log(
    `${kills} kills; ${calls} calls, ${commands} commands, ${sent} e-mails, ${doubts} of them in doubt`,
  );
});

function startWorker(
  { opened, sandbox, peer, workspace }: NotifyScene,
  point: string | undefined,
  occurrence: number,
): Started {
  const env = {
    DATABASE_URL: opened.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: sandbox.url,
    VOLLEY_SANDBOX_TOKEN: 'sandbox-token',
    NOTIFY_URL: peer.url,
    NOTIFY_SECRET: webhookSecret,
    LOG_LEVEL: 'info',
  };
  const signal = JSON.stringify({ signal: 'SIGKILL', point, occurrence });
  return startVolley(['worker', '--no-schedules', '--campaigns', '.'], {
    cwd: workspace.folder,
    env: point === undefined ? env : { ...env, [signalVariable]: signal },
    nodeFlags: point === undefined ? [] : ['--import', signalPreload],
  });
}

async function expectAllNotified(scene: NotifyScene, planned: readonly string[]) {
  const { pool } = scene.opened.ledger;
  const { rows: acknowledged } = await pool.query<{ run: string; way: string; mailRun: string | null }>(`
    SELECT run_id AS run, target ->> 'kind' AS way, mail_run AS "mailRun" FROM notifications WHERE state = 'acknowledged'
  `);
  const expected = planned.flatMap((run) => ['command', 'email', 'webhook'].map((way) => `${run} ${way}`));
  expect(acknowledged.map(({ run, way }) => `${run} ${way}`).toSorted()).toEqual(expected.toSorted());

  const calls = new Set(scene.peer.calls.map(({ id, body }) => `${id} ${body}`));
  expect(calls.size).toBe(runs);
  const commands = (await scene.workspace.read('notified.txt')).trim().split('\n');
  expect(new Set(commands).size).toBe(runs);
  const mailRuns = acknowledged.flatMap(({ mailRun }) => mailRun ?? []);
  const { rows: mails } = await pool.query<{ run_id: string }>(
    `SELECT run_id FROM runs WHERE campaign = 'test (summary)'`,
  );
  expect(mails.map(({ run_id }) => run_id).toSorted()).toEqual(mailRuns.toSorted());
  const journal = await readJournal(`${scene.workspace.folder}/journal.jsonl`);
  const sent = journal.filter(({ channel, status }) => channel === 'email' && status === 200);
  expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(sent.length);
  const { rows: doubts } = await pool.query(`
    SELECT FROM request_states q JOIN runs r USING (run_id) WHERE r.channel = 'email' AND q.state = 'in_doubt'
  `);
  expect(sent.length).toBeGreaterThanOrEqual(runs - doubts.length);
  return {
    calls: scene.peer.calls.length,
    commands: commands.length,
    sent: sent.length,
    doubts: doubts.length,
  };
}
