import Table from 'cli-table3';
import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { measurePages } from './dashboard/pages.ts';
import { compareWindows, measureViewers, type Watched, type Window } from './dashboard/viewers.ts';
import type { Bench } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { inBench } from './dispatch.ts';
import { median } from './rounds.ts';

const viewers = 50;

/**
 * Measures the pages of the dashboard while `volley serve` sends a run at full speed, in the same process: the time of
 * each page, and what 50 people who follow the run cost it. `BENCH_REQUESTS` (1,000,000) sets the requests of the
 * run for the pages; for the viewers it is half. `BENCH_ROUNDS` (3) sets the runs that are sent for the viewers.
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
    await inBench(server, tools, { requests: Math.ceil(requests / 2), recipients: 2 }, (bench) =>
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
  const runs: Watched[] = [];
  for (let round = 0; round < rounds; round++) runs.push(await measureViewers(bench, viewers));
  const windows = runs.flatMap((run) => run.windows);
  const table = new Table({
    head: ['in a window', 'without', 'with viewers', 'ratio', 'aim', 'of the ratios, half'],
    style: { head: [], border: [] },
  });
  const row = (name: string, figure: (window: Window) => number, aim: string): void => {
    const middle = (isWatched: boolean): string =>
      median(windows.filter((window) => window.isWatched === isWatched).map(figure)).toFixed(0);
    const ratios = runs
      .flatMap((run) => compareWindows(run.windows, figure))
      .toSorted((one, other) => one - other);
    const [low = Number.NaN, high = Number.NaN] = [0.25, 0.75].map(
      (share) => ratios[Math.floor(ratios.length * share)],
    );
    table.push([
      name,
      middle(false),
      middle(true),
      median(ratios).toFixed(3),
      aim,
      `${low.toFixed(3)} to ${high.toFixed(3)}`,
    ]);
  };
  row('requests in a second', ({ rate }) => rate, '0.980');
  row('processor of serve, µs for a request', ({ serve }) => serve, '');
  row('of Postgres, µs for a request', ({ postgres }) => postgres, '');
  row('of both, µs for a request', ({ serve, postgres }) => serve + postgres, '');
  const { requests, recipients } = bench.workload;
  const megabytes = runs.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  console.log(
    `viewers: ${viewers} follow the page of a run of ${requests.toLocaleString('en')} requests with ${recipients} recipients each, in every second of ${windows.length} windows of ${rounds} runs; they are sent ${megabytes.toFixed(0)} MB. Each window with viewers is compared with those before and after it.`,
  );
  console.log(table.toString());
}
