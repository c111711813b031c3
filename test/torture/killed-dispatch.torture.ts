import { test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrTwice } from '../support/expect-dispatched.ts';
import { killDispatches } from '../support/kill-dispatches.ts';
import { openKillTally } from '../support/kill-tally.ts';
import { randomKills } from '../support/random-kills.ts';
import { dispatchPoints, exchangePoints } from '../support/signal-points.ts';

/** VOLLEY_TORTURE_SEED repeats the kills of an earlier torture, as far as moments can be repeated. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const wanted = Number(process.env['VOLLEY_TORTURE_KILLS'] ?? 500);
const concurrency = 8;

/** These come once a slice or seldom, so that a process that waits for one sends a lot. */
const seldom = ['next attempt', 'slice acquired', 'slice finished', 'run finished'];
const often = [...dispatchPoints, ...exchangePoints.keys()].filter((point) => !seldom.includes(point));

/** Kills of one run: many that let it send a little, then those that let it go on to the end. */
function killsOf(round: number) {
  return [
    ...randomKills(40, often, `${seed} ${round}`),
    ...seldom.map((point) => ({ kind: 'point' as const, point, occurrence: 1 })),
  ];
}

test(`${wanted} kills of dispatches lose nothing and send nothing twice`, async () => {
  const tally = openKillTally();
  for (let round = 0; tally.kills() < wanted; round++) {
    await using scene = await openDispatchScene({
      requests: 3000,
      concurrency,
      peer: { latency: 5, rejects: 0.02, busy: 0.02 },
    });
    const killed = await killDispatches(scene, killsOf(round));
    tally.add(killed, await expectNothingLostOrTwice(scene, killed, 2 * concurrency));
  }
  tally.print(seed);
});

test('with onUnknown: resend, a hundred kills leave nobody without the message', async () => {
  const tally = openKillTally();
  for (let round = 0; tally.kills() < wanted / 5; round++) {
    await using scene = await openDispatchScene({
      requests: 2000,
      concurrency,
      onUnknown: 'resend',
      peer: { latency: 5, rejects: 0.02, busy: 0.02 },
    });
    const killed = await killDispatches(scene, killsOf(round));
    tally.add(killed, await expectNothingLostOrTwice(scene, killed, 2 * concurrency));
  }
  tally.print(seed);
});
