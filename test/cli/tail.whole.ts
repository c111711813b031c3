import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DispatchScene, openDispatchScene } from '../support/dispatch-scene.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { type StartedInProcess, startInProcess, startVolley } from '../support/volley.ts';

let scene: DispatchScene;
beforeAll(async () => {
  const peer = { latency: 5, rejects: 0.05, busy: 0.05 };
  scene = await openDispatchScene({ requests: 250, concurrency: 4, peer });
});
afterAll(() => scene[Symbol.asyncDispose]());

const tail = (url: string, ...words: string[]): StartedInProcess =>
  startInProcess(['tail', ...words], { env: { DATABASE_URL: url } });

type Line = Readonly<Record<string, unknown>> & { readonly event: string };

const linesOf = (stdout: string): Line[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The numbers of the accepted requests, in the order of the lines. */
function acceptedIn(lines: readonly Line[]): number[] {
  return lines.flatMap((line): number[] => {
    if (line['verdict'] === 'accepted') return [Number(line['request'])];
    if (line.event !== 'accepted' || !Array.isArray(line['requests'])) return [];
    return line['requests'].flatMap(([first, last]) =>
      Array.from({ length: last - first + 1 }, (_, index) => first + index),
    );
  });
}

test('tail prints every request of a run once, with several workers, one of them killed, and an outage of the database', async () => {
  await using proxy = await startPostgresProxy(scene.ledger.url);
  const run = await scene.plan();
  const following = tail(proxy.url, run, '--json');
  const killed = scene.start(['resume', run], { signal: 'SIGKILL', point: 'answer begun', occurrence: 50 });
  await scene.peer.hasReceived(30);
  proxy.stop();
  const other = scene.startHere(['resume', run]);
  await killed.ended;
  await sleep(200);
  await proxy.listen();
  await other.ended;
  const { code, stdout, stderr } = await following.ended;
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(
      /^ {2}waiting {2}database outage .*\n {2}waiting {2}the database outage is over\n$/,
    ),
  ]);

  const lines = linesOf(stdout);
  const { rows } = await scene.ledger.ledger.pool.query<{ request: number; state: string }>(
    'SELECT request, state FROM request_states WHERE run_id = $1 ORDER BY request',
    [run],
  );
  const inState = (state: string): number[] =>
    rows.filter((row) => row.state === state).map(({ request }) => request);
  const attempted = (verdict: string): number[] =>
    lines.filter((line) => line['verdict'] === verdict).map((line) => Number(line['request']));
  const ascending = (numbers: readonly number[]): number[] => numbers.toSorted((one, other) => one - other);
  expect(ascending(acceptedIn(lines))).toEqual(inState('accepted'));
  expect(ascending(attempted('rejected'))).toEqual(inState('rejected'));
  expect(ascending(attempted('in_doubt'))).toEqual(inState('in_doubt'));
  expect(inState('in_doubt').length).toBeGreaterThan(0);
  const attempts = await scene.ledger.ledger.pool.query<{ retries: number }>(
    `SELECT count(*)::integer AS retries FROM attempts WHERE run_id = $1 AND verdict = 'retry'`,
    [run],
  );
  expect(attempted('retry')).toHaveLength(attempts.rows[0]?.retries ?? 0);
  expect(lines.filter(({ event }) => event === 'state').map((line) => line['state'])).toEqual([
    'planned',
    'running',
    'completed',
  ]);
}, 120_000);

test('tail of a run that is over prints its last lines, or those since a time, and ends', async () => {
  const run = await scene.plan();
  await scene.runHere(['resume', run]);
  const last = await tail(scene.ledger.url, run).ended;
  const lines = last.stdout.trim().split('\n');
  expect([last.code, lines.length]).toEqual([0, 10]);
  expect(lines.at(-1)).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}completed$/);

  const failures = await tail(scene.ledger.url, run, '--failures', '--since', '1h').ended;
  expect(failures.stdout).toMatch(/ {2}rejected {5}request \d+, attempt 1: HTTP 400.* {2}\([0-9a-f]{36}\)$/m);
  expect(failures.stdout).not.toMatch(/accepted/);

  const all = await tail(scene.ledger.url, run, '--json', '--since', '1h').ended;
  const { stdout } = await scene.runHere(['status', run, '--json']);
  expect(acceptedIn(linesOf(all.stdout))).toHaveLength(JSON.parse(stdout).requests.accepted);
});

test('tail without a run names the run in each line, and Ctrl-C ends it with exit code 130', async () => {
  const following = startVolley(['tail', '-n', '0'], { env: { DATABASE_URL: scene.ledger.url } });
  let printed = '';
  following.process.stdout?.on('data', (piece: Buffer) => {
    printed += piece.toString();
  });
  let run = '';
  while (!printed.includes(`${run}  planned`) || run === '') {
    run = await scene.plan();
    await sleep(300);
  }
  following.process.kill('SIGINT');
  const { code, stdout, stderr } = await following.ended;
  expect([code, stderr.trim()]).toEqual([130, 'Stopped; the run goes on as before.']);
  expect(stdout).toMatch(new RegExp(`^\\S+ \\S+ {2}${run} {2}planned$`, 'm'));
});
