import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { type StartedInProcess, startInProcess, startVolley } from '../support/volley.ts';

let scene: DispatchScene;
beforeAll(async () => {
  scene = await openDispatchScene({ requests: 200, concurrency: 2, peer: { latency: 5, rejects: 0.05 } });
});
afterAll(() => scene[Symbol.asyncDispose]());

const watch = (url: string, ...words: string[]): StartedInProcess =>
  startInProcess(['status', '--watch', '--interval', '0.1', ...words], { env: { DATABASE_URL: url } });

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('status --watch prints each change, says when the database is away, and ends with the status of the run', async () => {
  await using proxy = await startPostgresProxy(scene.ledger.url);
  const run = await scene.plan();
  const watching = watch(proxy.url, run, '--json', '--exit-status');
  const sending = scene.startHere(['resume', run]);
  await scene.peer.hasReceived(20);
  proxy.stop();
  await sending.ended;
  await sleep(300);
  await proxy.listen();
  const { code, stdout } = await watching.ended;
  const lines = linesOf(stdout);
  const status = await scene.runHere(['status', run, '--json']);
  expect(lines.at(-1)).toEqual(JSON.parse(status.stdout));
  expect(code).toBe(3);
  expect(lines[0]).toMatchObject({ run, campaign: 'night', requests: { total: 200, not_accepted: 0 } });
  expect(lines.filter((line) => 'outage' in line)).toEqual([
    expect.objectContaining({ outage: expect.any(String) }),
    expect.objectContaining({ outage: null }),
  ]);
  const { requests } = lines.at(-1);
  expect(lines.at(-2)).toMatchObject({
    state: 'completed',
    requests: { total: 200, settled: 200, not_accepted: requests.rejected },
  });
});

test('without --json and a terminal, status --watch prints a line with time and state for each change', async () => {
  const run = await scene.plan();
  const watching = watch(scene.ledger.url, run);
  await scene.runHere(['pause', run, '--reason', 'a look first']);
  await sleep(300);
  await scene.runHere(['cancel', run, '--reason', 'wrong list']);
  const { code, stdout } = await watching.ended;
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d`;
  expect(stdout).toMatch(
    new RegExp(`^${time} {2}paused {5}.*0/200 requests.*; because {2}a look first$`, 'm'),
  );
  expect(stdout).toMatch(new RegExp(`^${time} {2}cancelled {2}.*; because {2}wrong list$`, 'm'));
  expect(stdout).toMatch(new RegExp(`^Run ${run} {2}night {2}cancelled$`, 'm'));
  // As without --watch: only --exit-status looks at the run.
  expect(code).toBe(0);
});

test('Ctrl-C ends status --watch with exit code 130, and the run goes on', async () => {
  const run = await scene.plan();
  const watching = startVolley(['status', run, '--watch', '--json'], {
    env: { DATABASE_URL: scene.ledger.url },
  });
  const shown = new Promise<void>((resolve) => watching.process.stdout?.once('data', () => resolve()));
  await shown;
  watching.process.kill('SIGINT');
  const { code, stderr } = await watching.ended;
  expect([code, stderr.trim()]).toEqual([130, 'Stopped; the run goes on as before.']);
  const { stdout } = await scene.runHere(['status', run, '--json']);
  expect(JSON.parse(stdout).state).toBe('planned');
});
