import { test } from 'vitest';
import { openDispatchScene, type SceneOptions } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { type Kill, killDispatches } from '../support/kill-dispatches.ts';
import { createKillTally } from '../support/kill-tally.ts';
import { randomKills } from '../support/random-kills.ts';
import { dispatchPoints, exchangePoints } from '../support/signal-points.ts';

/** VOLLEY_TORTURE_SEED repeats the kills of an earlier torture, as far as moments can be repeated. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const wanted = Number(process.env['VOLLEY_TORTURE_KILLS'] ?? 500);
const concurrency = 8;

/** These come once a slice or seldom, so that a process that waits for one sends a lot. */
const seldom = ['next attempt', 'slice acquired', 'slice finished', 'run finished'];
const often = [...dispatchPoints, ...exchangePoints.keys()].filter((point) => !seldom.includes(point));

/** Many that let a process send a little, then those that let it go on to the end. */
function killsOfRun(round: number): readonly Kill[] {
  return [
    ...randomKills(40, often, `${seed} ${round}`),
    ...seldom.map((point): Kill => ({ kind: 'point', point, occurrence: 1 })),
  ];
}

function killsOfWorker(round: number): readonly Kill[] {
  return randomKills(40, often, `${seed} worker ${round}`);
}

async function torture(kills: number, changes: Partial<SceneOptions>, joinedByWorker = false): Promise<void> {
  const tally = createKillTally();
  try {
    for (let round = 0; tally.kills() < kills; round++) {
      await using scene = await openDispatchScene({
        requests: 3000,
        concurrency,
        peer: { latency: 5, rejects: 0.02, busy: 0.02 },
        ...changes,
      });
      const workerKills = joinedByWorker ? killsOfWorker(round) : [];
      const killed = await killDispatches(scene, killsOfRun(round), workerKills);
      tally.add(killed, await expectNothingLostOrTwice(scene, killed, concurrency));
    }
  } finally {
    tally.print(seed);
  }
}

test(`${wanted} kills of dispatches lose nothing and send nothing twice`, () => torture(wanted, {}));

test('with onUnknown: resend, kills leave nobody without the message', () =>
  torture(wanted / 5, { onUnknown: 'resend' }));

test('two engines on one run lose nothing and send nothing twice, whichever is killed', () =>
  torture(wanted / 5, { requests: 5000 }, true));
