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
  const closesAt = Math.ceil((Date.now() + 25_000) / minute) * minute;
  const opensAt = closesAt + minute;
  const timeOf = (at: number): string => new Date(at).toISOString().slice(11, 16);
  const window = `window: { from: "${timeOf(opensAt)}", to: "${timeOf(closesAt)}", timeZone: Etc/UTC }\n`;
  await scene.workspace.write('campaign.yaml', `${await scene.workspace.read('campaign.yaml')}${window}`);

  const kills: Killed[] = [];
  let worker = scene.start(['run', 'campaign.yaml']);
  const run = await plannedRun(worker);
  while (Date.now() < opensAt + 15_000) {
    // One kill is just before the window closes.
    const untilClosed = closesAt - Date.now() - 5_500;
    await sleep(untilClosed > 0 && untilClosed < 10_000 ? untilClosed : 3_000 + Math.random() * 7_000);
    const from = Date.now();
    worker.process.kill('SIGKILL');
    await worker.ended;
    kills.push({
      what: `killed ${Math.round((from - closesAt) / 1_000)} s after it closed`,
      from,
      to: Date.now(),
    });
    worker = scene.start(['resume', run]);
  }
  const { code, stderr } = await worker.ended;
  expect([0, 3], stderr).toContain(code);

  const arrivals = scene.peer.arrivals();
  expect(arrivals.filter((at) => at >= closesAt && at < opensAt)).toEqual([]);
  expect(arrivals.some((at) => at < closesAt)).toBe(true);
  expect(arrivals.some((at) => at >= opensAt)).toBe(true);
  expect(await statusOf(scene, run)).toMatchObject({ state: 'completed', requests: { total: requests } });
  const figures = await expectNothingLostOrDuplicated(
    scene,
    { run, kills, timesToFirstRequest: [] },
    concurrency,
  );
  console.log(JSON.stringify({ kills: kills.map(({ what }) => what), ...figures }));
});
