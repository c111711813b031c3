import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { type Kill, killDispatches } from '../support/kill-dispatches.ts';
import { randomKills } from '../support/random-kills.ts';
import { dispatchPoints, exchangePoints } from '../support/signal-points.ts';

const concurrency = 8;

/** Each named point once, in the middle of things where it comes often. */
const kills: readonly Kill[] = [...dispatchPoints, ...exchangePoints.keys()].map((point) => {
  const once = /^(slice|run|next)/.test(point);
  return { kind: 'point', point, occurrence: once ? 1 : 17 };
});
const [lastPoint] = kills.filter((kill) => kill.kind === 'point' && kill.point === 'run finished');

test('a run whose process is killed at every point and at any moment loses nothing and sends nothing twice', async () => {
  await using scene = await openDispatchScene({
    requests: 1500,
    concurrency,
    peer: { latency: 5, rejects: 0.02, busy: 0.02 },
  });
  const planned = [
    ...kills.filter((kill) => kill !== lastPoint),
    ...randomKills(9, [], 1),
    ...(lastPoint ? [lastPoint] : []),
  ];
  const killed = await killDispatches(scene, planned);
  expect(killed.kills.map(({ what }) => what)).toEqual([
    'planned',
    ...planned.map((kill) => (kill.kind === 'point' ? kill.point : 'a moment')),
  ]);
  await expectNothingLostOrTwice(scene, killed, concurrency);
}, 180_000);
