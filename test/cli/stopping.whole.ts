import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { plannedRun, statusOf } from '../support/planned-run.ts';
import { maxStopMilliseconds } from '../support/volley.ts';
import { accountsYaml } from '../support/workspace.ts';

const concurrency = 4;
/** A service that answers after every time limit. */
const stalled = { latency: 600_000 };

/** A run with its first requests in flight. */
async function stalledRun(scene: DispatchScene) {
  await scene.workspace.write('accounts.yaml', accountsYaml.replace('headers: 5s', 'headers: 300s'));
  const started = scene.start(['run', 'campaign.yaml', '--json']);
  const run = await plannedRun(started);
  await scene.peer.hasReceived(concurrency);
  return { started, run };
}

async function resume({ runHere }: DispatchScene, run: string): Promise<void> {
  const { code, stderr } = await runHere(['resume', run]);
  expect([0, 3], stderr).toContain(code);
}

test.concurrent('Ctrl-C ends a run within 10 seconds even if the service stalls, and requests in flight are in doubt', async () => {
  await using scene = await openDispatchScene({ requests: 60, concurrency, peer: stalled });
  const { started, run } = await stalledRun(scene);
  const from = Date.now();
  started.process.kill('SIGINT');
  // Like `timeout`, which sends two signals at once.
  started.process.kill('SIGTERM');
  // Printed while it waits, not only at the end.
  await started.waitForText(
    `Stopping. Volley sends nothing new, and waits up to 7.5 s for answers to requests in flight. Requests without an answer are then in doubt. \`volley resume ${run}\` continues it later. Press Ctrl-C again to end at once.\n`,
  );
  expect(started.process.exitCode).toBe(null);
  const { code, stderr } = await started.ended;
  const to = Date.now();
  expect([code, stderr]).toEqual([130, expect.not.stringContaining('Ended at once')]);
  expect(to - from).toBeLessThan(await maxStopMilliseconds());
  const { state, requests } = await statusOf(scene, run);
  expect(state).toBe('paused');
  expect(requests).toMatchObject({ sending: 0, in_doubt: concurrency, planned: 60 - concurrency });

  scene.peer.behave({ latency: 0 });
  await resume(scene, run);
  const interrupted = { run, kills: [{ what: 'Ctrl-C', from, to }], timesToFirstRequest: [] };
  const figures = await expectNothingLostOrDuplicated(scene, interrupted, concurrency);
  expect(figures).toMatchObject({ inDoubt: concurrency, inDoubtAccepted: concurrency });
});

test.concurrent('a second Ctrl-C ends a run at once, as safely as a kill', async () => {
  await using scene = await openDispatchScene({ requests: 60, concurrency, peer: stalled });
  const { started, run } = await stalledRun(scene);
  started.process.kill('SIGINT');
  await sleep(600);
  expect(started.process.exitCode).toBe(null);
  const from = Date.now();
  started.process.kill('SIGINT');
  const { code, stderr } = await started.ended;
  expect(code).toBe(130);
  expect(stderr).toMatch(/\nEnded at once\.\n/);
  const to = Date.now();
  // Much earlier than by the first Ctrl-C.
  expect(to - from).toBeLessThan(3_000);

  scene.peer.behave({ latency: 0 });
  await resume(scene, run);
  const interrupted = { run, kills: [{ what: 'second Ctrl-C', from, to }], timesToFirstRequest: [] };
  const figures = await expectNothingLostOrDuplicated(scene, interrupted, concurrency);
  expect(figures.inDoubt).toBeGreaterThanOrEqual(concurrency);
});

test.concurrent('Ctrl-C leaves nothing in doubt when the service answers', async () => {
  await using scene = await openDispatchScene({ requests: 200, concurrency, peer: { latency: 20 } });
  const started = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await scene.peer.hasReceived(20);
  started.process.kill('SIGTERM');
  expect((await started.ended).code).toBe(130);
  const { requests } = await statusOf(scene, run);
  expect(requests).toMatchObject({ sending: 0, in_doubt: 0 });
  expect(requests.planned).toBeGreaterThan(0);

  await resume(scene, run);
  await expectNothingLostOrDuplicated(scene, { run, kills: [], timesToFirstRequest: [] }, 0);
});
