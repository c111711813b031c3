import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { plannedRun, runIs } from '../support/planned-run.ts';
import { saysSignal } from '../support/signal-points.ts';

const concurrency = 4;

test('engines that are started on one run at the same time send nothing twice', async () => {
  await using scene = await openDispatchScene({ requests: 800, concurrency, peer: { latency: 5 } });
  const first = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(first);
  const others = [scene.start(['resume', run]), scene.start(['resume', run])];
  for (const { ended } of [first, ...others]) {
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
  }
  const figures = await expectNothingLostOrTwice(scene, { run, kills: [], untilSent: [] }, 0);
  expect(figures.accepted).toBe(800);
}, 60_000);

// They wait for a heartbeat most of the time, so they wait together.
describe.concurrent('a worker that is stopped for longer than its heartbeat sends nothing when it goes on that another has', () => {
  test.for(['claimed', 'sending', 'recording'])('stopped at: %s', { timeout: 60_000 }, async (point) => {
    await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 5 } });
    const planning = scene.start(['run', 'campaign.yaml']);
    const run = await plannedRun(planning);
    planning.process.kill('SIGKILL');
    const from = Date.now();
    await planning.ended;
    const killed = { what: 'planned', from, to: Date.now() };

    const stopped = scene.start(['worker'], { signal: 'SIGSTOP', point, occurrence: 9 });
    await stopped.says(saysSignal);
    const stoppedAt = Date.now();
    const second = scene.start(['worker']);
    await runIs(scene, run, 'completed');
    const completedAt = Date.now();
    expect(completedAt - stoppedAt).toBeGreaterThan(8_000);
    const before = scene.peer.received().requests;
    stopped.process.kill('SIGCONT');
    await sleep(2_000);
    // What was about to leave as it was stopped leaves; what was only claimed does not.
    const sentOn = scene.peer.received().requests - before;
    expect(sentOn).toBeLessThanOrEqual(point === 'claimed' ? 0 : concurrency);
    for (const worker of [stopped, second]) {
      worker.process.kill('SIGTERM');
      const { code, stderr } = await worker.ended;
      expect(code, stderr).toBe(0);
    }
    const kills = [killed, { what: point, from: stoppedAt, to: completedAt }];
    await expectNothingLostOrTwice(scene, { run, kills, untilSent: [] }, concurrency);
  });
});
