import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { planRerun } from '../../../src/engine/plan/rerun.ts';
import { pause } from '../../../src/engine/runs/stop-run.ts';
import { recordSchedules } from '../../../src/engine/schedule/record-schedules.ts';
import { insertWarning } from '../../../src/ledger/notifications/insert.ts';
import { eraseRun } from '../../../src/ledger/purge/erase-run.ts';
import { endTick, listDueTicks } from '../../../src/ledger/schedules/ticks.ts';
import { inTransaction } from '../../../src/ledger/session.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { accountAt, execute } from '../../support/execute.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../../support/notify-scene.ts';
import { smsCampaignYaml } from '../../support/workspace.ts';

let scene: NotifyScene;
beforeAll(async () => {
  scene = await openNotifyScene();
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(async () => {
  await emptyLedger(scene.opened.ledger.pool);
  scene.peer.calls.splice(0);
  scene.peer.answer(200);
  scene.log.splice(0);
});

const types = (): string[] => scene.peer.calls.map(({ notification }) => notification.type);

/** Sends with a credential that is refused. */
async function sendRefused(run: string): Promise<void> {
  const credentials = { kind: 'authToken', authToken: 'another-token' } as const;
  await execute(scene.opened.context, run, accountAt(scene.sandbox.url, { credentials }));
}

/** Sends to a closed port. */
async function sendInVain(run: string): Promise<void> {
  await execute(scene.opened.context, run, accountAt('http://127.0.0.1:9'));
}

const noRetries = smsCampaignYaml.replace('retries: 2', 'retries: 0');

describe('notifications of a run', () => {
  test('a completed run is notified once, with its counts and a signature', async () => {
    const run = await scene.plan(webhookNotify());
    await scene.send(run);
    await scene.notifyAll();
    await scene.notifyAll();
    expect(scene.peer.calls).toHaveLength(1);
    expect(scene.peer.calls[0]?.notification).toMatchObject({
      type: 'run.completed',
      data: {
        run,
        campaign: 'test',
        state: 'completed',
        reason: null,
        recipients: { total: 4, accepted: 4 },
      },
    });
    expect(await scene.notifications(run)).toMatchObject([
      { event: 'completed', state: 'acknowledged', attempts: 1 },
    ]);
  });

  test('each kind of warning of a guard is notified once', async () => {
    const run = await scene.plan(webhookNotify('paused'));
    const warnings = [
      { kind: 'guard_silent', milliseconds: 60_000, recipients: 4 },
      { kind: 'guard_rejected', requests: 3, of: 4, limit: 0.1, errorRate: 0.01 },
    ] as const;
    for (const warning of [...warnings, ...warnings])
      await inTransaction(scene.opened.ledger.pool, (client) =>
        insertWarning(client, run, warning, new Date()),
      );
    expect((await scene.notifications(run)).map(({ event }) => event)).toEqual(['warned', 'warned']);
  });

  test('a completed run with failures is notified as run.failures', async () => {
    const run = await scene.plan(webhookNotify(), noRetries);
    await sendInVain(run);
    await scene.notifyAll();
    expect(scene.peer.calls.map(({ notification }) => notification)).toMatchObject([
      { type: 'run.failures', data: { state: 'completed', recipients: { failed: 4 } } },
    ]);
  });

  test('each pause of a run is notified with its reason, and then its completion', async () => {
    const run = await scene.plan(webhookNotify());
    await sendRefused(run);
    await sendRefused(run);
    await scene.send(run);
    await scene.notifyAll();
    expect(types().toSorted()).toEqual(['run.completed', 'run.paused', 'run.paused']);
    const paused = scene.peer.calls.find(({ notification }) => notification.type === 'run.paused');
    expect(paused?.notification.data['reason']).toContain('credential');
    expect(new Set(scene.peer.calls.map(({ id }) => id)).size).toBe(3);
  });

  test('a pause by an operator is notified, too', async () => {
    const run = await scene.plan(webhookNotify('paused'));
    await pause(scene.opened.context, run, 'the text is wrong');
    await scene.notifyAll();
    expect(scene.peer.calls.map(({ notification }) => notification)).toMatchObject([
      {
        type: 'run.paused',
        data: {
          run,
          reason: 'the text is wrong',
          waitsFor: [{ kind: 'resume', reason: 'the text is wrong' }],
        },
      },
    ]);
  });

  test('only the events in the campaign are notified', async () => {
    const run = await scene.plan(webhookNotify('failures, missed'));
    await sendRefused(run);
    await scene.send(run);
    await scene.notifyAll();
    expect(types()).toEqual([]);
    expect(await scene.notifications(run)).toEqual([]);
  });

  test('a rerun notifies the targets of its source run', async () => {
    const { context } = scene.opened;
    const source = await scene.plan(webhookNotify('completed'), noRetries);
    await sendInVain(source);
    const run = await planRerun(context, {
      of: source,
      states: ['failed'],
      account: accountAt(scene.sandbox.url),
    });
    await scene.send(run);
    await scene.notifyAll();
    expect(scene.peer.calls.map(({ notification }) => notification.data['run'])).toEqual([run]);
  });
});

describe('notifications of a schedule', () => {
  const scheduled = {
    schedule: 'nightly.yaml',
    campaign: 'night',
    fileSha256: Buffer.alloc(32),
    ownerId: 0,
    times: { cron: '0 * * * *', timeZone: 'UTC', catchUp: 0, overlap: 'skip' as const },
    notify: [
      {
        on: ['missed'],
        kind: 'webhook',
        url: '${NOTIFY_URL}',
        secret: '${NOTIFY_SECRET}',
        plainHttp: 'refused',
      },
    ],
  };
  const look = (now: string) =>
    recordSchedules(
      { ...scene.opened.context, now: () => new Date(now) },
      { schedules: [scheduled], unreadable: [] },
    );

  test('missed ticks that are found together are one notification', async () => {
    await look('2026-11-20T00:30:00Z');
    await look('2026-11-20T03:30:00Z');
    await look('2026-11-20T03:40:00Z');
    await scene.notifyAll();
    expect(scene.peer.calls.map(({ notification }) => notification)).toMatchObject([
      {
        type: 'schedule.missed',
        data: {
          schedule: 'nightly.yaml',
          campaign: 'night',
          times: 3,
          from: '2026-11-20T01:00:00Z',
          until: '2026-11-20T03:00:00Z',
          state: 'missed',
          reason: 'no worker was there in time (catchUp: 0d)',
        },
      },
    ]);
  });

  test('a tick whose run could not be planned is notified without the reason, which may quote a contact', async () => {
    await look('2026-11-20T00:30:00Z');
    await look('2026-11-20T01:00:10Z');
    const { pool } = scene.opened.ledger;
    const [tick] = await listDueTicks(pool);
    if (!tick) throw new Error('the time is not noted');
    await endTick(pool, tick, { state: 'failed', reason: 'line 2: "ann@example.org"' });
    // As a purge does; no notification.
    await pool.query('UPDATE ticks SET reason = NULL');
    await scene.notifyAll();
    expect(scene.peer.calls.map(({ notification }) => notification.data)).toMatchObject([
      { state: 'failed', times: 1 },
    ]);
    expect(JSON.stringify(scene.peer.calls)).not.toContain('ann@');
  });
});

test('a purged run sends no notification, and keeps none of their contents', async () => {
  const run = await scene.plan(webhookNotify('paused, completed'));
  await pause(scene.opened.context, run, 'ann@example.org asked for it');
  await scene.notifyAll();
  await scene.send(run);
  await eraseRun(scene.opened.ledger.pool, run);
  await scene.notifyAll();
  expect(scene.peer.calls.length).toBe(1);
  const { rows } = await scene.opened.ledger.pool.query(
    'SELECT to_jsonb(n)::text AS row FROM notifications n',
  );
  expect(rows.length).toBeGreaterThan(1);
  expect(JSON.stringify(rows)).not.toMatch(/ann@|NOTIFY_|total/);
  expect((await scene.notifications(run)).map(({ state }) => state)).toEqual(['acknowledged', 'given up']);
});
