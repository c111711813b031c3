import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { type Kill, killDispatches } from '../support/kill-dispatches.ts';

const concurrency = 8;
const peer = { latency: 5, rejects: 0.02, busy: 0.02 };

function atPoints(...points: readonly string[]): readonly Kill[] {
  return points.map((point) => ({ kind: 'point', point, occurrence: 11 }));
}

test('when either of two engines on a run is killed, nothing is lost and nothing is sent twice', async () => {
  await using scene = await openDispatchScene({ requests: 400, concurrency, peer });
  const killed = await killDispatches(
    scene,
    atPoints('claimed', 'recording'),
    atPoints('body sent', 'header'),
  );
  // A kill comes too late if the other engine has sent everything before.
  expect(killed.kills.length).toBeGreaterThanOrEqual(2);
  await expectNothingLostOrDuplicated(scene, killed, concurrency);
}, 180_000);

test('with onUnknown: resend, each recipient gets the message at least once, however often the process is killed', async () => {
  await using scene = await openDispatchScene({ requests: 200, concurrency, onUnknown: 'resend', peer });
  const killed = await killDispatches(scene, atPoints('answer begun', 'recording'));
  const { inDoubtAccepted, acceptedAgain } = await expectNothingLostOrDuplicated(scene, killed, concurrency);
  expect(inDoubtAccepted).toBe(0);
  expect(acceptedAgain).toBeGreaterThan(0);
}, 180_000);
