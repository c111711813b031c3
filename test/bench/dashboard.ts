import { measurePages } from './dashboard/pages.ts';
import { compareWindows, measureViewers, type Window } from './dashboard/viewers.ts';
import type { Bench } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { inBench } from './dispatch.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median, quantile, sizeFrom } from './rounds.ts';
import { startServer } from './servers.ts';

const viewers = 50;

/**
 * Measures the pages of the dashboard while `volley serve` sends a run at full speed, in the same process: the time of
 * each page, and what 50 people who follow the run cost it. `BENCH_REQUESTS` (1,000,000) sets the requests of the
 * run for the pages; for the viewers it is half. `BENCH_ROUNDS` (3) sets the runs that are sent for the viewers.
 */
export async function benchDashboard(): Promise<void> {
  const requests = sizeFrom('BENCH_REQUESTS', 1_000_000);
  const rounds = sizeFrom('BENCH_ROUNDS', 3);
  await using server = await startServer();
  await using service = await startService();
  await inBench(server, service, { requests, recipients: 1 }, printPages);
  await inBench(server, service, { requests: Math.ceil(requests / 2), recipients: 2 }, (bench) =>
    printViewers(bench, rounds),
  );
}

async function printPages(bench: Bench): Promise<void> {
  const pages = await measurePages(bench);
  const at = (times: readonly number[], share: number): string => quantile(times, share).toFixed(0);
  printTable(
    `dashboard: each page in turn, while the same process sends ${grouped(bench.workload.requests)} requests`,
    ['page', 'status', 'kB', 'times', 'median, ms', '95th percentile', 'aim', 'longest'],
    pages.map(({ path, status, bytes, times }) => [
      path,
      String(status),
      (bytes / 1_000).toFixed(0),
      String(times.length),
      at(times, 0.5),
      at(times, 0.95),
      '200',
      at(times, 1),
    ]),
  );
}

async function printViewers(bench: Bench, rounds: number): Promise<void> {
  const runs = await inRounds(rounds, () => measureViewers(bench, viewers));
  const windows = runs.flatMap((run) => run.windows);
  const row = (name: string, figure: (window: Window) => number, aim: string): string[] => {
    const middle = (isWatched: boolean): string =>
      median(windows.filter((window) => window.isWatched === isWatched).map(figure)).toFixed(0);
    const ratios = runs.flatMap((run) => compareWindows(run.windows, figure));
    const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)];
    const half = `${low.toFixed(3)} to ${high.toFixed(3)}`;
    return [name, middle(false), middle(true), median(ratios).toFixed(3), aim, half];
  };
  const { requests, recipients } = bench.workload;
  const megabytes = runs.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  printTable(
    `viewers: ${viewers} follow the page of a run of ${grouped(requests)} requests with ${recipients} recipients each, in every second of ${windows.length} windows of ${rounds} runs; they are sent ${megabytes.toFixed(0)} MB. Each window with viewers is compared with those before and after it.`,
    ['in a window', 'without', 'with viewers', 'ratio', 'aim', 'of the ratios, half'],
    [
      row('requests in a second', ({ rate }) => rate, '0.980'),
      row('processor of serve, µs for a request', ({ serve }) => serve, ''),
      row('of Postgres, µs for a request', ({ postgres }) => postgres, ''),
      row('of both, µs for a request', ({ serve, postgres }) => serve + postgres, ''),
    ],
  );
}
