import { test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { openDispatchScene, type SceneOptions } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated, type Figures } from '../support/expect-dispatched.ts';
import {
  type Kill,
  type KilledRun,
  killDispatches,
  type TimeToFirstRequest,
} from '../support/kill-dispatches.ts';
import { dispatchPoints, exchangePoints } from '../support/signal-points.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const wanted = Number(process.env['VOLLEY_TORTURE_KILLS'] ?? 500);
const concurrency = 8;

/** At most once a slice. */
const seldom = ['next attempt', 'slice acquired', 'slice finished', 'run finished'];
const often = [...dispatchPoints, ...exchangePoints.keys()].filter((point) => !seldom.includes(point));

const maxOccurrence = 60;

/** Half of the kills are at random points, half at random moments. The same seed gives the same kills. */
function randomKills(count: number, points: readonly string[], seed: number | string): Kill[] {
  return Array.from({ length: count }, (_, index) => {
    const random = (what: string, below: number) => Math.floor(seededRandom(what, seed, index) * below);
    const point = points[random('point', points.length * 2)];
    if (point !== undefined) {
      return { kind: 'point', point, occurrence: 1 + random('occurrence', maxOccurrence) };
    }
    const after = random('after', 4) === 0 ? 'start' : 'first request';
    return { kind: 'moment', after, milliseconds: random('moment', after === 'start' ? 1000 : 150) };
  });
}

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
function createKillTally() {
  const startedAt = performance.now();
  const byPoint = new Map<string, number>();
  const timesToFirstRequest: TimeToFirstRequest[] = [];
  const sums = new Map<string, number>();
  let kills = 0;
  return {
    kills: () => kills,
    add(killed: KilledRun, figures: Figures): void {
      kills += killed.kills.length;
      timesToFirstRequest.push(...killed.timesToFirstRequest);
      for (const { what } of killed.kills) byPoint.set(what, (byPoint.get(what) ?? 0) + 1);
      for (const [name, figure] of Object.entries(figures)) sums.set(name, (sums.get(name) ?? 0) + figure);
      // Not `console.log`: vitest holds it back until the test ends.
      process.stdout.write(
        `  ${kills} kills, ${sums.get('inDoubt')} in doubt, ${secondsSince(startedAt)} s\n`,
      );
    },
    /** @param seed repeats these kills */
    print(seed: string): void {
      const sorted = timesToFirstRequest.toSorted((one, other) => one.milliseconds - other.milliseconds);
      const lines: [string, number | string][] = [
        ['seed', seed],
        ['kills', kills],
        ...[...byPoint].map(([point, count]): [string, number] => [`  at ${point}`, count]),
        ...sums,
        ['ms until a resume sent, median', sorted[sorted.length >> 1]?.milliseconds ?? 0],
        ...sorted
          .slice(-5)
          .toReversed()
          .map(({ milliseconds, after }): [string, string] => [
            'ms until a resume sent, longest',
            `${milliseconds} after ${after}`,
          ]),
        ['seconds', secondsSince(startedAt)],
      ];
      console.log(lines.map(([what, value]) => `${what.padEnd(34)} ${value}`).join('\n'));
    },
  };
}

function secondsSince(begun: number): number {
  return Math.round((performance.now() - begun) / 1000);
}
