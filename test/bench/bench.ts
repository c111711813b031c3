import { benchDashboard } from './dashboard.ts';
import { benchDispatch } from './dispatch.ts';
import { benchGrowth } from './growth.ts';
import { benchImport } from './import.ts';
import { benchKills } from './kills.ts';
import { benchPostgres } from './postgres.ts';
import { benchPreempt } from './preempt.ts';
import { benchReport } from './report.ts';
import { benchStart } from './start.ts';
import { benchStorage } from './storage.ts';
import { benchUpgrade } from './upgrade.ts';
import { benchWatched } from './watched.ts';
import { benchWebhooks } from './webhooks.ts';
import { benchWire } from './wire.ts';

/**
 * `npm run bench` runs the benchmarks that take minutes, `npm run bench -- wire` one, `npm run bench -- storage 100000`
 * one with arguments. A figure is a ratio to a peer in the same run, as the median of several rounds, or an amount for
 * each recipient. Nothing here passes or fails.
 */
const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  start: benchStart,
  wire: benchWire,
  import: benchImport,
  dispatch: benchDispatch,
  kills: benchKills,
  preempt: benchPreempt,
  watched: benchWatched,
  webhooks: benchWebhooks,
  report: benchReport,
  postgres: benchPostgres,
  dashboard: benchDashboard,
};

/** They take hours, so they run only when they are named. */
const longBenchmarks: Readonly<Record<string, (words: readonly string[]) => Promise<void>>> = {
  storage: benchStorage,
  growth: benchGrowth,
  upgrade: benchUpgrade,
};

const requested = process.argv.slice(2);
const [first = '', ...words] = requested;
const long = Object.hasOwn(longBenchmarks, first) ? longBenchmarks[first] : undefined;
const unknown = requested.filter((name) => !Object.hasOwn(benchmarks, name));
if (long !== undefined) await long(words);
else if (unknown.length > 0) {
  const all = [...Object.keys(benchmarks), ...Object.keys(longBenchmarks)];
  console.error(`Unknown benchmark: ${unknown.join(', ')}. The benchmarks: ${all.join(', ')}.`);
  process.exitCode = 2;
} else {
  for (const [name, run] of Object.entries(benchmarks)) {
    if (requested.length === 0 || requested.includes(name)) await run();
  }
}
