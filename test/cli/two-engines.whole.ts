import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { plannedRun } from '../support/planned-run.ts';
import { expectStoppedWorkerHarmless } from '../support/stopped-worker.ts';

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

test.concurrent('a worker that was stopped for longer than its lease sends no slice that another worker has reclaimed', {
  timeout: 60_000,
}, async () => {
  await expectStoppedWorkerHarmless('sending');
});
