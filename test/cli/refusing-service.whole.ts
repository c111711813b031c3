import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { plannedRun } from '../support/planned-run.ts';

test('a run says that its service refuses every request, waits until that ends, and sends everything', async () => {
  await using scene = await openDispatchScene({ requests: 12, concurrency: 8, peer: { busy: 1 } });
  const started = scene.startHere(['run', 'campaign.yaml']);
  const run = await plannedRun(started);
  await started.waitForText('0/12 requests. The service has refused everything since');

  const { stdout } = await scene.runHere(['status', run]);
  expect(stdout).toMatch(
    /waits {7}The service has refused everything since .*: HTTP (429|503)\. The next request is sent/,
  );
  const { stdout: json } = await scene.runHere(['status', run, '--json']);
  expect(JSON.parse(json)).toMatchObject({
    state: 'running',
    refusal: {
      reason: expect.stringMatching(/^HTTP/),
      since: expect.any(String),
      retryAt: expect.any(String),
    },
  });

  scene.peer.behave({ busy: 0 });
  expect(await started.ended).toMatchObject({ code: 0 });
  const { stdout: after } = await scene.runHere(['status', run, '--json']);
  expect(JSON.parse(after)).toMatchObject({ refusal: null, requests: { accepted: 12 } });
});

test('a run pauses when its service has refused every request for `giveUpAfter`', async () => {
  await using scene = await openDispatchScene({ requests: 12, concurrency: 8, peer: { busy: 1 } });
  const campaign = await scene.workspace.read('campaign.yaml');
  await scene.workspace.write(
    'campaign.yaml',
    campaign.replace('resends: 10', 'resends: 10, giveUpAfter: 200ms'),
  );
  const ended = await scene.runHere(['run', 'campaign.yaml', '--json']);
  expect(ended).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/has refused every request of account "[^"]+" for 200ms: HTTP/),
  });
  expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'paused', requests: { planned: 12, failed: 0 } });
});
