import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDispatchScene } from '../support/dispatch-scene.ts';
import { expectNothingLostOrDuplicated } from '../support/expect-dispatched.ts';
import type { Killed } from '../support/kill-dispatches.ts';
import { plannedRun, statusOf } from '../support/planned-run.ts';

const minute = 60_000;
const concurrency = 4;
/** More than fit before the window closes. */
const requests = 2_000;

test('nothing arrives outside the window and everything in the end, however often the worker is killed', async () => {
  await using scene = await openDispatchScene({ requests, concurrency, peer: { latency: 100 } });
  // Closed for one minute of the day, soon.
  const shuts = Math.ceil((Date.now() + 25_000) / minute) * minute;
  const opens = shuts + minute;
  const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 16);
  const window = `window: { from: "${timeOf(opens)}", to: "${timeOf(shuts)}", timeZone: Etc/UTC }\n`;
  await scene.workspace.write('campaign.yaml', `${await scene.workspace.read('campaign.yaml')}${window}`);

  const kills: Killed[] = [];
  let worker = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(worker);
  while (Date.now() < opens + 15_000) {
    // One kill is just before the window closes.
    const untilShut = shuts - Date.now() - 5_500;
    await sleep(untilShut > 0 && untilShut < 10_000 ? untilShut : 3_000 + Math.random() * 7_000);
    const from = Date.now();
    worker.process.kill('SIGKILL');
    await worker.ended;
    kills.push({
      what: `killed ${Math.round((from - shuts) / 1_000)} s after it shut`,
      from,
      to: Date.now(),
    });
    worker = scene.start(['resume', run]);
  }
  const { code, stderr } = await worker.ended;
  expect([0, 3], stderr).toContain(code);

  const arrivals = scene.peer.arrivals();
  expect(arrivals.filter((at) => at >= shuts && at < opens)).toEqual([]);
  expect(arrivals.some((at) => at < shuts)).toBe(true);
  expect(arrivals.some((at) => at >= opens)).toBe(true);
  expect(await statusOf(scene, run)).toMatchObject({ state: 'completed', requests: { total: requests } });
  const figures = await expectNothingLostOrDuplicated(
    scene,
    { run, kills, timesToFirstRequest: [] },
    concurrency,
  );
  console.log(JSON.stringify({ kills: kills.map(({ what }) => what), ...figures }));
});
