import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { plannedRun, statusOf, waitForRunState } from '../support/planned-run.ts';

const options = { requests: 120, concurrency: 4, peer: { latency: 20 } };

test('a run that another process pauses stops within a second, and one that it resumes continues within a second', async () => {
  await using scene = await openDispatchScene(options);
  const running = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(running);
  await scene.peer.hasReceived(20);

  const [pausedAt, paused] = await Promise.all([
    waitForRunState(scene, run, 'paused'),
    scene.runHere(['pause', run, '--reason', 'the wrong text']),
  ]);
  expect(paused.code, paused.stderr).toBe(0);
  const { requests: sentBefore, lastAt } = scene.peer.received();
  expect(lastAt - pausedAt).toBeLessThan(1_000);
  const ended = await running.ended;
  expect(ended.code).toBe(4);
  expect(ended.stderr).toContain('the wrong text');
  const { state, requests } = await statusOf(scene, run);
  expect(state).toBe('paused');
  expect(requests).toMatchObject({ sending: 0, in_doubt: 0 });
  expect(scene.peer.received().requests).toBe(sentBefore);

  const resuming = scene.runHere(['resume', run]);
  const resumedAt = await waitForRunState(scene, run, 'running');
  await scene.peer.hasReceived(sentBefore + 1);
  expect(scene.peer.received().lastAt - resumedAt).toBeLessThan(1_000);
  expect((await resuming).code).toBe(0);
  const figures = await expectNothingLostOrDuplicated(scene, { run, kills: [], timesToFirstRequest: [] }, 0);
  expect(figures.accepted).toBe(options.requests);
});

test('a run that another process cancels stops within a second, and its planned requests are never sent', async () => {
  await using scene = await openDispatchScene(options);
  const running = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(running);
  await scene.peer.hasReceived(20);

  const [cancelledAt, cancelled] = await Promise.all([
    waitForRunState(scene, run, 'cancelled'),
    scene.runHere(['cancel', run]),
  ]);
  expect(cancelled.code, cancelled.stderr).toBe(0);
  expect((await running.ended).code).toBe(4);
  const { requests: sent, lastAt } = scene.peer.received();
  expect(lastAt - cancelledAt).toBeLessThan(1_000);
  const { state, requests } = await statusOf(scene, run);
  expect(state).toBe('cancelled');
  expect(requests).toMatchObject({ planned: 0, sending: 0, in_doubt: 0, accepted: sent });
  expect(requests.cancelled).toBe(options.requests - sent);

  expect((await scene.runHere(['resume', run])).code).toBe(4);
  expect(await scene.peer.acceptances()).toHaveLength(sent);
});

test('a waiting worker starts to send within a second of a resume, and stays when the run ends', async () => {
  await using scene = await openDispatchScene(options);
  const run = await scene.plan();
  expect((await scene.runHere(['pause', run])).code).toBe(0);
  const worker = scene.start(['worker']);
  await worker.waitForText('worker started');
  const before = scene.peer.received().requests;
  await sleep(1_500);
  expect(scene.peer.received().requests, 'a paused run is sent').toBe(before);

  const resuming = scene.start(['resume', run]);
  const resumedAt = await waitForRunState(scene, run, 'running');
  resuming.process.kill('SIGKILL');
  const from = Date.now();
  await resuming.ended;
  const killed = { what: 'resume', from, to: Date.now() };
  await scene.peer.hasReceived(before + 1);
  expect(scene.peer.received().lastAt - resumedAt).toBeLessThan(2_000);
  await waitForRunState(scene, run, 'completed');
  expect(worker.process.exitCode).toBe(null);
  worker.process.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  await expectNothingLostOrDuplicated(
    scene,
    { run, kills: [killed], timesToFirstRequest: [] },
    options.concurrency,
  );
});

test.each(['pause', 'cancel'])(
  'volley %s after a kill names the requests that were in flight',
  async (word) => {
    await using scene = await openDispatchScene(options);
    const running = scene.start(['run', 'campaign.yaml']);
    const run = await plannedRun(running);
    await scene.peer.hasReceived(20);
    running.process.kill('SIGKILL');
    await running.ended;
    const { code, stdout } = await scene.runHere([word, run, '--json']);
    expect(code).toBe(0);
    const { requests } = JSON.parse(stdout);
    expect(requests.sending).toBe(0);
    expect(requests.in_doubt).toBeGreaterThan(0);
  },
);
