import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type CanaryScene, canaryScene } from '../support/canary-scene.ts';
import { openTestLedger, type TestLedger } from '../support/ledger.ts';
import { dispatchPoints } from '../support/signal-points.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const rounds = Number(process.env['VOLLEY_TORTURE_ROUNDS'] ?? 10);

const canarySize = 40;
const recipients = 160;
/** A killed worker leaves requests in doubt, about which no report may come. */
const canary = `canary: { recipients: ${canarySize}, observe: 8s, abort: { rejected: 100%, undelivered: 10%, unreported: 100% } }`;

type Round = {
  readonly scene: CanaryScene;
  readonly ledger: TestLedger;
  readonly run: string;
  readonly random: (what: string, below: number) => number;
};

test(`workers that are killed while a canary is observed make the same decision once (seed ${seed})`, async () => {
  let kills = 0;
  for (let round = 0; round < rounds; round++) {
    const isHealthy = round % 2 === 0;
    await using ledger = new AsyncDisposableStack();
    const opened = await openTestLedger();
    const scene = ledger.use(await canaryScene({ canary, recipients, ledger: Promise.resolve(opened) }));
    const run = await scene.plan();
    let draws = 0;
    const random = (what: string, below: number): number =>
      Math.floor(seededRandom(what, `${seed} ${round}`, draws++) * below);
    const each = { scene, ledger: opened, run, random };
    const over = new AbortController();
    const working = [workAndKill(each, over.signal), workAndKill(each, over.signal)];
    const reporting = report(each, isHealthy, over.signal);
    const state = await watchUntilDecided(each);
    over.abort();
    await reporting;
    kills += (await Promise.all(working)).reduce((sum, count) => sum + count, 0);
    await expectDecidedOnce(each, isHealthy, state);
  }
  process.stdout.write(`  ${rounds} canaries, ${kills} kills\n`);
}, 3_600_000);

/** Starts a worker again and again, each of which is killed at a random point or moment. @returns how many were */
async function workAndKill({ scene, random }: Round, over: AbortSignal): Promise<number> {
  let kills = 0;
  while (!over.aborted) {
    const point = dispatchPoints[random('point', dispatchPoints.length * 3)];
    const at = point && { signal: 'SIGKILL' as const, point, occurrence: 1 + random('occurrence', 20) };
    const started = scene.start(['worker'], at);
    await sleep(2_000 + random('moment', 3_000), undefined, { signal: over }).catch(() => undefined);
    started.process.kill(over.aborted ? 'SIGTERM' : 'SIGKILL');
    await started.ended;
    if (started.process.signalCode === 'SIGKILL') kills++;
  }
  return kills;
}

/** Of an unhealthy canary, every second batch of reports is about failures: far more than it allows. */
async function report({ scene, random }: Round, isHealthy: boolean, over: AbortSignal): Promise<void> {
  let reported = 0;
  for (let batch = 0; !over.aborted; await sleep(200)) {
    const before = reported;
    reported = Math.min(scene.service.calls.length, before + 1 + random('reports', 7));
    if (reported > before) batch++;
    await scene.report(reported, isHealthy || batch % 2 === 0 ? 'delivered' : 'undelivered');
  }
}

/** Until the run is paused or completed, nothing is sent of what is not promoted. @returns its state */
async function watchUntilDecided({ scene, ledger, run }: Round): Promise<string> {
  for (;;) {
    const sent = scene.service.calls.length;
    const { rows } = await ledger.ledger.pool.query<{ state: string; isPromoted: boolean }>(
      `SELECT state, NOT EXISTS (SELECT FROM slices s WHERE s.run_id = r.run_id AND s.state = 'unpromoted') AS "isPromoted"
       FROM runs r WHERE run_id = $1`,
      [run],
    );
    const [found] = rows;
    if (!found?.isPromoted) expect(sent).toBeLessThanOrEqual(canarySize);
    if (found && found.state !== 'planned' && found.state !== 'running') return found.state;
    await sleep(20);
  }
}

async function expectDecidedOnce({ scene, run }: Round, isHealthy: boolean, state: string): Promise<void> {
  const { decisions } = await scene.status(run);
  const sentTo = scene.service.accepted().flatMap((call) => call.recipients);
  expect(new Set(sentTo).size).toBe(sentTo.length);
  expect(
    decisions.map(({ kind }) => kind),
    JSON.stringify(decisions),
  ).toEqual([isHealthy ? 'canary promoted' : 'canary aborted']);
  expect(state).toBe(isHealthy ? 'completed' : 'paused');
  if (!isHealthy) expect(sentTo.length).toBeLessThanOrEqual(canarySize);
}
