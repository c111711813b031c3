import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { type Kill, killDispatches } from '../support/kill-dispatches.ts';
import { dispatchPoints, exchangePoints } from '../support/signal-points.ts';

/** test/torture/killed-dispatch.torture.ts kills 500 times. */
const concurrency = 8;

/** These points come after many requests. */
const late = ['slice finished', 'run finished'];
/** These points come fewer than five times. */
const seldom = [...late, 'slice acquired', 'next attempt'];

function atPoints(points: readonly string[]): readonly Kill[] {
  return points.map((point) => ({ kind: 'point', point, occurrence: seldom.includes(point) ? 1 : 5 }));
}

const early = [...dispatchPoints, ...exchangePoints.keys()].filter((point) => !late.includes(point));
const kills: readonly Kill[] = [...atPoints(early), ...atPoints(late)];

test('a run whose process is killed at every point loses nothing and sends nothing twice', async () => {
  await using scene = await openDispatchScene({
    requests: 1200,
    concurrency,
    peer: { latency: 5, rejects: 0.02, busy: 0.02 },
  });
  const killed = await killDispatches(scene, kills);
  expect(killed.kills.map(({ what }) => what)).toEqual([...early, ...late]);
  await expectNothingLostOrDuplicated(scene, killed, concurrency);
}, 180_000);
