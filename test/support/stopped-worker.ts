import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { openDispatchScene } from './dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from './expect-dispatched.ts';
import { waitForRunState } from './planned-run.ts';
import { signalMessage } from './signal-points.ts';

const concurrency = 4;

/**
 * Stops a worker with SIGSTOP for longer than its lease, while another reclaims its slice. Expects that the
 * first then repeats nothing.
 */
export async function expectStoppedWorkerHarmless(point: string): Promise<void> {
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
