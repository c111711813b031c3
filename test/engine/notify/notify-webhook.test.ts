import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { acquireNotification } from '../../../src/ledger/notifications/acquire.ts';
import { emptyLedger } from '../../support/empty-ledger.ts';
import { type NotifyScene, openNotifyScene, webhookNotify } from '../../support/notify-scene.ts';

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

describe('sendNotification by webhook', () => {
  test('a webhook that fails gets the same id and bytes later', async () => {
    const run = await scene.plan(webhookNotify());
    scene.peer.refuse();
    await scene.send(run);
    await scene.notifyAll();
    expect(await scene.notifications(run)).toMatchObject([
      { state: 'due', attempts: 1, problem: 'connection refused' },
    ]);
    await scene.peer.listen();
    await scene.notifyAll();
    expect(scene.peer.calls).toEqual([]);
    scene.peer.answer(500);
    await scene.passMinutes(1);
    await scene.notifyAll();
    scene.peer.answer(200);
    await scene.opened.ledger.pool.query(`UPDATE runs SET contacts_read = 99`);
    await scene.passMinutes(5);
    await scene.notifyAll();
    const [first, second] = scene.peer.calls;
    expect(second?.id).toBe(first?.id);
    expect(second?.body).toBe(first?.body);
    expect(await scene.notifications(run)).toMatchObject([
      { state: 'acknowledged', attempts: 3, problem: null },
    ]);
  });

  test('a redirect of a webhook is not followed', async () => {
    const run = await scene.plan(webhookNotify());
    scene.peer.answer(307, { location: `${scene.peer.url}/elsewhere` });
    await scene.send(run);
    await scene.notifyAll();
    expect(scene.peer.calls.map(({ path }) => path)).toEqual(['/notifications']);
    expect(await scene.notifications(run)).toMatchObject([{ state: 'due', problem: 'answered 307' }]);
  });

  test('a webhook that answers 410 gets nothing more', async () => {
    const run = await scene.plan(webhookNotify());
    scene.peer.answer(410);
    await scene.send(run);
    await scene.notifyAll();
    await scene.passMinutes(60);
    await scene.notifyAll();
    expect(scene.peer.calls).toHaveLength(1);
    expect(await scene.notifications(run)).toMatchObject([{ state: 'given up' }]);
  });

  test('a notification that fails for a day is given up with its problem', async () => {
    const run = await scene.plan(webhookNotify());
    scene.peer.answer(503);
    await scene.send(run);
    await scene.passMinutes(60);
    await scene.notifyAll();
    await scene.passMinutes(24 * 60);
    await scene.notifyAll();
    await scene.passMinutes(25 * 60);
    await scene.notifyAll();
    expect(scene.peer.calls).toHaveLength(2);
    expect(await scene.notifications(run)).toMatchObject([
      { state: 'given up', attempts: 2, problem: 'answered 503' },
    ]);
    expect(scene.log.join('')).toContain('notification failed for a day');
  });

  test('a webhook whose secret is not on this machine is left to another one', async () => {
    const run = await scene.plan(webhookNotify());
    await scene.send(run);
    await scene.passMinutes(30);
    await scene.notifyAll({ settings: { ...scene.settings, environment: {} } });
    expect(await scene.notifications(run)).toMatchObject([{ state: 'due', attempts: 0 }]);
    expect(scene.log.join('')).toContain('notification still due');
    await scene.notifyAll();
    expect(types()).toEqual(['run.completed']);
  });
});

describe('runNotifier in several processes', () => {
  test('several notifiers send each notification once', async () => {
    const run = await scene.plan(Array.from({ length: 20 }, () => webhookNotify('completed')).join(''));
    await scene.send(run);
    await Promise.all([scene.notifyAll(), scene.notifyAll(), scene.notifyAll()]);
    expect(scene.peer.calls).toHaveLength(20);
    expect(new Set(scene.peer.calls.map(({ id }) => id)).size).toBe(20);
  });

  test('a notification that an ended process had acquired is sent after its acquisition expires', async () => {
    const run = await scene.plan(webhookNotify());
    await scene.send(run);
    await acquireNotification(scene.opened.ledger.pool, [], new Date(), new Date(Date.now() + 120_000));
    await scene.notifyAll();
    expect(types()).toEqual([]);
    await scene.passMinutes(3);
    await scene.notifyAll();
    expect(types()).toEqual(['run.completed']);
  });
});
