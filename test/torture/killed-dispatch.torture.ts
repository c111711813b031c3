import { test } from 'vitest';
import { openDispatchScene, type SceneOptions } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import { type Kill, killDispatches } from '../support/kill-dispatches.ts';
import { createKillTally } from '../support/kill-tally.ts';
import { randomKills } from '../support/random-kills.ts';
import { dispatchPoints, exchangePoints } from '../support/signal-points.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const wanted = Number(process.env['VOLLEY_TORTURE_KILLS'] ?? 500);
const concurrency = 8;

/** At most once a slice. */
const seldom = ['next attempt', 'slice acquired', 'slice finished', 'run finished'];
const often = [...dispatchPoints, ...exchangePoints.keys()].filter((point) => !seldom.includes(point));

/** Many kills after a little sending, then kills near the end. */
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
      tally.add(killed, await expectNothingLostOrDuplicated(scene, killed, concurrency));
    }
  } finally {
    tally.print(seed);
  }
}

test(`${wanted} kills of dispatches lose no request and send none twice`, () => torture(wanted, {}));

test('with onUnknown: resend, every recipient gets the message in spite of kills', () =>
  torture(wanted / 5, { onUnknown: 'resend' }));

test('two processes that share a run lose no request and send none twice, whichever is killed', () =>
  torture(wanted / 5, { requests: 5000 }, true));
