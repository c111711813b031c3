import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isConnectionFailure } from '../../src/platform/database-failures.ts';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type CanaryScene, canaryScene } from '../support/canary-scene.ts';
import { openLedgerIn } from '../support/ledger.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { dispatchPoints } from '../support/signal-points.ts';
import { runStatement } from '../support/statement.ts';

/** VOLLEY_TORTURE_SEED repeats an earlier torture. */
const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const rounds = Number(process.env['VOLLEY_TORTURE_ROUNDS'] ?? 10);

const canarySize = 40;
const recipients = 160;
/** A killed worker leaves requests in doubt, about which no report may come. */
const canary = `canary: { recipients: ${canarySize}, observe: 8s, abort: { rejected: 100%, undelivered: 10%, unreported: 100% } }`;
const clockSteps = import.meta.resolve('../support/clock-steps-preload.ts');

let server: OwnPostgres;
beforeAll(async () => {
  server = await startOwnPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

type Round = {
  readonly scene: CanaryScene;
  readonly url: string;
  readonly run: string;
  readonly random: (what: string, below: number) => number;
};

/** What went wrong beside a canary, so that a torture in which nothing happened is seen. */
type Troubles = { kills: number; crashes: number; doubled: number };

test(`while a canary is observed, killed workers, set clocks, crashes of Postgres and reports in any order make the same decision once (seed ${seed})`, async () => {
  const troubles: Troubles = { kills: 0, crashes: 0, doubled: 0 };
  for (let round = 0; round < rounds; round++) {
    const isHealthy = round % 2 === 0;
    await using opened = new AsyncDisposableStack();
    const url = await server.createDatabase();
    const ledger = openLedgerIn({ connection: { connectionString: url }, url, drop: async () => undefined });
    const scene = opened.use(await canaryScene({ canary, recipients, ledger }));
    const run = await scene.plan();
    let draws = 0;
    const random = (what: string, below: number): number =>
      Math.floor(seededRandom(what, `${seed} ${round}`, draws++) * below);
    const each = { scene, url, run, random };
    const over = new AbortController();
    const troubling = Promise.all([
      workAndKill(each, troubles, over.signal),
      workAndKill(each, troubles, over.signal),
      report(each, isHealthy, troubles, over.signal),
      crash(each, troubles, over.signal),
    ]);
    const state = await watchUntilDecided(each);
    over.abort();
    await troubling;
    await expectDecidedOnce(each, isHealthy, state);
  }
  process.stdout.write(`  ${rounds} canaries: ${JSON.stringify(troubles)}\n`);
  expect(Object.values(troubles).every((count) => count > 0)).toBe(true);
}, 3_600_000);

const pause = (milliseconds: number, over: AbortSignal): Promise<void> =>
  sleep(milliseconds, undefined, { signal: over }).catch(() => undefined);

/** Starts a worker again and again, whose clock is set again and again, and which is killed at a random point or moment. */
async function workAndKill({ scene, random }: Round, troubles: Troubles, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    const point = dispatchPoints[random('point', dispatchPoints.length * 3)];
    const at = point && { signal: 'SIGKILL' as const, point, occurrence: 1 + random('occurrence', 20) };
    const started = scene.start(['worker'], at, random('clock', 2) === 0 ? [clockSteps] : []);
    await pause(2_000 + random('moment', 3_000), over);
    started.process.kill(over.aborted ? 'SIGTERM' : 'SIGKILL');
    await started.ended;
    if (started.process.signalCode === 'SIGKILL') troubles.kills++;
  }
}

/**
 * Reports in any order. Of an unhealthy canary, every second one is about a failure: far more than it allows. A
 * report may come twice, and the second may say the contrary, which changes nothing.
 */
async function report(
  { scene, random }: Round,
  isHealthy: boolean,
  troubles: Troubles,
  over: AbortSignal,
): Promise<void> {
  const left = new Set<(typeof scene.service.calls)[number]>();
  let known = 0;
  let reports = 0;
  for (; !over.aborted; await sleep(30)) {
    for (; known < scene.service.calls.length; known++) {
      const call = scene.service.calls[known];
      if (call) left.add(call);
    }
    const call = [...left][random('call', left.size)];
    if (call === undefined) continue;
    left.delete(call);
    const outcomes = ['delivered', 'undelivered'] as const;
    const first = outcomes[isHealthy ? 0 : reports++ % 2] ?? 'delivered';
    await untilTaken(() => scene.reportCall(call, first), over);
    if (random('doubled', 4) > 0) continue;
    troubles.doubled++;
    await untilTaken(() => scene.reportCall(call, outcomes[random('outcome', 2)] ?? first), over);
  }
}

/** The service repeats a report that is not answered with 2xx. */
async function untilTaken(reportOnce: () => Promise<void>, over: AbortSignal): Promise<void> {
  while (!over.aborted) {
    try {
      return await reportOnce();
    } catch {
      await pause(100, over);
    }
  }
}

/** Kills the server once in the middle of it all, and one session later. */
async function crash({ random }: Round, troubles: Troubles, over: AbortSignal): Promise<void> {
  await pause(2_000 + random('crash', 6_000), over);
  if (over.aborted) return;
  await server.kill();
  troubles.crashes++;
  await server.start();
  await server.isReady();
  await pause(1_000 + random('session', 4_000), over);
  if (!over.aborted) await server.killSession();
  await server.isReady();
}

/** Until the run is paused or completed, nothing is sent of what is not promoted. @returns its state */
async function watchUntilDecided({ scene, url, run }: Round): Promise<string> {
  for (;;) {
    const sent = scene.service.calls.length;
    const found = await readRun(url, run);
    if (found && !found.isPromoted) expect(sent).toBeLessThanOrEqual(canarySize);
    if (found && found.state !== 'planned' && found.state !== 'running') return found.state;
    await sleep(50);
  }
}

async function readRun(
  url: string,
  run: string,
): Promise<{ readonly state: string; readonly isPromoted: boolean } | undefined> {
  try {
    const [row] = await runStatement(
      url,
      `SELECT state, NOT EXISTS (SELECT FROM slices s WHERE s.run_id = r.run_id AND s.state = 'unpromoted') AS promoted
       FROM runs r WHERE run_id = $1`,
      [run],
    );
    return row && { state: String(row['state']), isPromoted: row['promoted'] === true };
  } catch (error) {
    if (isConnectionFailure(error)) return undefined;
    throw error;
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
