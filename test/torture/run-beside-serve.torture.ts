import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/seeded-values.ts';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { freePort } from '../support/free-port.ts';
import { plannedRun } from '../support/planned-run.ts';
import type { Ended } from '../support/volley.ts';

const seed = process.env['VOLLEY_TORTURE_SEED'] ?? String(Date.now());
const runs = Number(process.env['VOLLEY_TORTURE_RUNS'] ?? 60);

/**
 * Small runs beside `serve` and two workers, which often send first. Every fourth process is killed, and its run
 * resumed.
 */
test(`${runs} runs beside serve and workers each end with their own summary and exit code`, async () => {
  await using scene = await openDispatchScene({ requests: 1, concurrency: 4 });
  const port = await freePort();
  const others = [
    scene.start(['serve', '--no-receiver', '--no-api', '--no-schedules', '--port', String(port)]),
    scene.start(['worker']),
    scene.start(['worker']),
  ];
  for (const { waitForText } of others) await waitForText('worker started');
  const counts = { ended: 0, killed: 0 };
  for (let number = 0; number < runs; number += 4) {
    await Promise.all(
      [number, number + 1, number + 2, number + 3].map((each) => runOne(scene, each, counts)),
    );
  }
  for (const { process, ended } of others) {
    process.kill('SIGTERM');
    expect((await ended).code).toBe(0);
  }
  const accepted = await scene.peer.acceptances();
  expect(new Set(accepted.map(({ messageId }) => messageId)).size).toBe(accepted.length);
  console.log(counts, { seed });
});

async function runOne(
  scene: DispatchScene,
  number: number,
  counts: { ended: number; killed: number },
): Promise<void> {
  await scene.workspace.write(
    `${number}.csv`,
    `mobile,name,code\n04${String(number).padStart(8, '0')},Ann,C\n`,
  );
  const running = scene.start(['run', 'campaign.yaml', '--contacts', `${number}.csv`, '--json']);
  if (number % 4 !== 3) {
    counts.ended++;
    return expectEnd(await running.ended);
  }
  const run = await plannedRun(running);
  await sleep(300 * seededRandom('kill', seed, number));
  running.process.kill('SIGKILL');
  await running.ended;
  counts.killed++;
  expectEnd(await scene.start(['resume', run, '--json']).ended);
}

function expectEnd({ code, stdout, stderr }: Ended): void {
  const { state, requests } = JSON.parse(stdout || expect.fail(stderr));
  expect([code, state, requests.total], stderr).toEqual([requests.in_doubt > 0 ? 3 : 0, 'completed', 1]);
}
