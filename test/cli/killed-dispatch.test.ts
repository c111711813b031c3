import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { killDispatches } from '../support/kill-dispatches.ts';
import { randomKills } from '../support/random-kills.ts';
import { exchangePoints } from '../support/signal-points.ts';

const concurrency = 8;

test('a run whose process is killed at every point and at any moment loses nothing and sends nothing twice', async () => {
  await using scene = await openDispatchScene({
    requests: 1500,
    concurrency,
    peer: { latency: 5, rejects: 0.02, busy: 0.02 },
  });
  const killed = await killDispatches(scene, [
    ...[...exchangePoints.keys()].map((point) => ({ kind: 'point' as const, point, occurrence: 17 })),
    ...randomKills(10, [], 1),
  ]);
  const figures = await expectNothingLostOrTwice(scene, killed, 2 * concurrency);
  console.log(killed, figures);
  expect(killed.kills).toHaveLength(15);
}, 60_000);
