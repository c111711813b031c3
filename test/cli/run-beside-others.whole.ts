import { describe, test } from 'vitest';
import { createOutageRetry } from '../../src/engine/dispatch/outage-retry.ts';
import { runWorker } from '../../src/engine/dispatch/worker.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { accountAt } from '../support/execute.ts';
import { plannedRun, waitForRunState } from '../support/planned-run.ts';
import { signalMessage } from '../support/signal-points.ts';
import type { Ended, Started } from '../support/volley.ts';

/** Another process can send or stop a planned run before `volley run` starts it. */
const planned = { requests: 6, concurrency: 4 };
const beforeBegin = { point: 'beginning', occurrence: 1 } as const;

type Meanwhile = (scene: DispatchScene, run: string) => Promise<unknown>;

const sentByWorker: Meanwhile = async (scene, run) => {
  const stop = new AbortController();
  const never = new AbortController().signal;
  const outage = { onDown: () => undefined, onUp: () => undefined };
  const { context, ledger } = scene.ledger;
  const worker = runWorker(context, {
    accountNamed: async () => accountAt(scene.peer.url),
    stop: stop.signal,
    cutOff: never,
    outageRetry: createOutageRetry(outage, ledger, never),
  });
  await waitForRunState(scene, run, 'completed');
  stop.abort();
  await worker;
};

const here =
  (...words: string[]): Meanwhile =>
  ({ runHere: command }, run) =>
    command([...words, run]);

/** Repeats SIGCONT, because the process prints its message before it stops. */
async function goOn({ process, ended }: Started): Promise<Ended> {
  const again = setInterval(() => process.kill('SIGCONT'), 100);
  return ended.finally(() => clearInterval(again));
}

async function killedRun(scene: DispatchScene, point: string, occurrence: number): Promise<string> {
  const running = scene.start(['run', 'campaign.yaml'], { signal: 'SIGKILL', point, occurrence });
  const run = await plannedRun(running);
  await running.ended;
  return run;
}

const ways: readonly (readonly [string, Meanwhile, { rejects: number }, number, object])[] = [
  ['all of it is sent', sentByWorker, { rejects: 0 }, 0, { state: 'completed', requests: { accepted: 6 } }],
  [
    'it is sent, and rejected,',
    sentByWorker,
    { rejects: 1 },
    3,
    { state: 'completed', requests: { rejected: 6 } },
  ],
  ['it is cancelled', here('cancel'), { rejects: 0 }, 4, { state: 'cancelled', requests: { cancelled: 6 } }],
  ['it is paused', here('pause'), { rejects: 0 }, 4, { state: 'paused', requests: { planned: 6 } }],
];

describe.concurrent('volley run and resume, beside another process', () => {
  test.for(ways)(
    'a run ends with its own summary and exit code when, before it starts, %s by another process',
    async (way, { expect }) => {
      const [, meanwhile, peer, code, summary] = way;
      await using scene = await openDispatchScene({ ...planned, peer });
      const running = scene.start(['run', 'campaign.yaml', '--json'], { signal: 'SIGSTOP', ...beforeBegin });
      const run = await plannedRun(running);
      await running.waitForText(signalMessage);
      await meanwhile(scene, run);
      const ended = await goOn(running);
      expect(ended.code, ended.stderr).toBe(code);
      expect(JSON.parse(ended.stdout)).toMatchObject(summary);
      const accepted = await scene.peer.acceptances();
      expect(new Set(accepted.map(({ messageId }) => messageId)).size).toBe(accepted.length);
    },
  );

  test('a killed run ends with its own summary when a worker sends it before or during its resumption', async ({
    expect,
  }) => {
    await using scene = await openDispatchScene(planned);
    const run = await scene.plan();
    const resuming = scene.start(['resume', run, '--json'], { signal: 'SIGSTOP', ...beforeBegin });
    await resuming.waitForText(signalMessage);
    await sentByWorker(scene, run);
    for (const ended of [await goOn(resuming), await scene.runHere(['resume', run, '--json'])]) {
      expect(ended.code, ended.stderr).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'completed', requests: { accepted: 6 } });
    }
  });

  test('a run that was killed in the middle of sending ends with its own summary when a worker sends the rest', async ({
    expect,
  }) => {
    await using scene = await openDispatchScene(planned);
    const run = await killedRun(scene, 'sending', 2);
    await sentByWorker(scene, run);
    const { code, stdout, stderr } = await scene.runHere(['resume', run, '--json']);
    expect(code, stderr).toBe(3);
    const { requests } = JSON.parse(stdout);
    expect(requests.in_doubt).toBeGreaterThan(0);
    expect(requests.in_doubt + requests.accepted).toBe(6);
  });

  test('a run that was cancelled before its resumption ends with its own summary, and says so', async ({
    expect,
  }) => {
    await using scene = await openDispatchScene(planned);
    const run = await scene.plan();
    await scene.runHere(['cancel', run, '--reason', 'the wrong list']);
    const { code, stdout, stderr } = await scene.runHere(['resume', run, '--json']);
    expect([code, stderr]).toEqual([4, expect.stringContaining('The run is cancelled: the wrong list.')]);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'cancelled', requests: { cancelled: 6 } });
    expect(await scene.peer.acceptances()).toEqual([]);
  });
});
