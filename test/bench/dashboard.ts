import Table from 'cli-table3';
import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { measurePages } from './dashboard/pages.ts';
import { measureViewers, type Sent } from './dashboard/viewers.ts';
import type { Bench } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { inBench } from './dispatch.ts';
import { median } from './rounds.ts';

const viewers = 50;

/**
 * Measures the pages of the dashboard while `volley serve` sends a run at full speed, in the same process: the time of
 * each page, and what 50 people who follow the run cost it. `BENCH_REQUESTS` (1,000,000) sets the requests of the
 * run for the pages; for the viewers it is a fifth. `BENCH_ROUNDS` (3) sets the pairs with and without viewers.
 */
export async function benchDashboard(): Promise<void> {
  const requests = Number(process.env['BENCH_REQUESTS'] ?? '1000000');
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? '3');
  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home);
  await grantTestRights(lease.address);
  const status = embeddedServerStatus(home);
  const tools = {
    service: await startService(),
    postmaster: status.state === 'running' ? status.pid : Number.NaN,
  };
  const server = urlOfServer(lease.address);
  try {
    await inBench(server, tools, { requests, recipients: 1 }, printPages);
    await inBench(server, tools, { requests: Math.ceil(requests / 5), recipients: 2 }, (bench) =>
      printViewers(bench, rounds),
    );
  } finally {
    tools.service.stop();
    await lease.release();
    deleteHome(home);
  }
}

async function printPages(bench: Bench): Promise<void> {
  const pages = await measurePages(bench);
  const table = new Table({
    head: ['page', 'status', 'kB', 'times', 'median, ms', '95th percentile', 'aim', 'longest'],
    style: { head: [], border: [] },
  });
  const at = (times: readonly number[], share: number): string => {
    const sorted = times.toSorted((one, other) => one - other);
    return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN).toFixed(0);
  };
  for (const { path, status, bytes, times } of pages)
    table.push([
      path,
      String(status),
      (bytes / 1_000).toFixed(0),
      String(times.length),
      at(times, 0.5),
      at(times, 0.95),
      '200',
      at(times, 1),
    ]);
  console.log(
    `dashboard: each page in turn, while the same process sends ${bench.workload.requests.toLocaleString('en')} requests`,
  );
  console.log(table.toString());
}

async function printViewers(bench: Bench, rounds: number): Promise<void> {
  const pairs: { readonly none: Sent; readonly some: Sent }[] = [];
  for (let round = 0; round < rounds; round++) {
    const inTurn = round % 2 === 0 ? [0, viewers] : [viewers, 0];
    const sent = new Map<number, Sent>();
    for (const count of inTurn) sent.set(count, await measureViewers(bench, count));
    const [none, some] = [sent.get(0), sent.get(viewers)];
    if (none && some) pairs.push({ none, some });
  }
  const table = new Table({
    head: [
      'viewers',
      'seconds',
      'ratio',
      'aim',
      'processor of serve, s',
      'ratio',
      'of Postgres, s',
      'MB sent',
    ],
    style: { head: [], border: [] },
  });
  const row = (name: string, of: (pair: (typeof pairs)[number]) => Sent, aim: string): void => {
    const middle = (figure: (sent: Sent) => number): number => median(pairs.map((pair) => figure(of(pair))));
    const ratio = (figure: (sent: Sent) => number): string =>
      median(pairs.map((pair) => figure(of(pair)) / figure(pair.none))).toFixed(3);
    table.push([
      name,
      middle(({ seconds }) => seconds).toFixed(2),
      ratio(({ seconds }) => seconds),
      aim,
      middle(({ serve }) => serve).toFixed(2),
      ratio(({ serve }) => serve),
      middle(({ postgres }) => postgres).toFixed(2),
      (middle(({ bytes }) => bytes) / 1e6).toFixed(1),
    ]);
  };
  row('none', ({ none }) => none, '');
  row(String(viewers), ({ some }) => some, '1.020');
  const { requests, recipients } = bench.workload;
  console.log(
    `viewers: the page of a run of ${requests.toLocaleString('en')} requests with ${recipients} recipients each, from its first request until it is completed, median of ${rounds} pairs`,
  );
  console.log(table.toString());
}
