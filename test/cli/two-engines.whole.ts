import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { scaled } from '../support/examples.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { plannedRun, waitForRunState } from '../support/planned-run.ts';
import { signalMessage } from '../support/signal-points.ts';

const concurrency = 4;

test.concurrent('engines that start the same run at the same time send nothing twice', async () => {
  await using scene = await openDispatchScene({ requests: 240, concurrency, peer: { latency: 15 } });
  const first = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(first);
  const others = [scene.start(['resume', run]), scene.start(['resume', run])];
  for (const { ended } of [first, ...others]) {
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
  }
  const figures = await expectNothingLostOrDuplicated(scene, { run, kills: [], timesToFirstRequest: [] }, 0);
  expect(figures.accepted).toBe(240);
});

test.concurrent.each(['sending', 'claimed', 'recording'].slice(0, scaled(1, 3)))(
  'a worker that was stopped for longer than its lease, at "%s", sends no slice that another worker has reclaimed',
  (point) => expectStoppedWorkerHarmless(point),
);

/**
 * Stops a worker with SIGSTOP for longer than its lease, while another reclaims its slice. Expects that the
 * first then repeats nothing.
 */
async function expectStoppedWorkerHarmless(point: string): Promise<void> {
  await using scene = await openDispatchScene({ requests: 300, concurrency, peer: { latency: 5 } });
  const run = await scene.plan();
  const stopped = scene.start(['worker'], { signal: 'SIGSTOP', point, occurrence: 9 });
  await stopped.waitForText(signalMessage);
  const stoppedAt = Date.now();
  const second = scene.start(['worker']);
  await waitForRunState(scene, run, 'completed');
  const completedAt = Date.now();
  expect(completedAt - stoppedAt).toBeGreaterThan(8_000);
  const before = scene.peer.received().requests;
  stopped.process.kill('SIGCONT');
  await sleep(2_000);
  // Requests that were about to leave still leave; claimed ones do not.
  const sentOn = scene.peer.received().requests - before;
  expect(sentOn).toBeLessThanOrEqual(point === 'claimed' ? 0 : concurrency);
  stopped.process.kill('SIGTERM');
  second.process.kill('SIGTERM');
  for (const { ended } of [stopped, second]) {
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(0);
  }
  const kills = [{ what: point, from: stoppedAt, to: completedAt }];
  await expectNothingLostOrDuplicated(scene, { run, kills, timesToFirstRequest: [] }, concurrency);
}
