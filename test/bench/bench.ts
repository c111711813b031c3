import { benchDashboard } from './dashboard.ts';
import { benchDispatch } from './dispatch.ts';
import { benchImport } from './import.ts';
import { benchKills } from './kills.ts';
import { benchPostgres } from './postgres.ts';
import { benchPreempt } from './preempt.ts';
import { benchReport } from './report.ts';
import { benchStart } from './start.ts';
import { benchWebhooks } from './webhooks.ts';
import { benchWire } from './wire.ts';

/**
 * `npm run bench` runs all benchmarks, `npm run bench -- wire` one. A figure is a ratio to a peer in the same run, as
 * the median of several rounds. Nothing here passes or fails.
 */
const benchmarks: Readonly<Record<string, () => Promise<void>>> = {
  start: benchStart,
  wire: benchWire,
  import: benchImport,
  dispatch: benchDispatch,
  kills: benchKills,
  preempt: benchPreempt,
  webhooks: benchWebhooks,
  report: benchReport,
  postgres: benchPostgres,
  dashboard: benchDashboard,
};

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(
    `Unknown benchmark: ${unknown.join(', ')}. The benchmarks: ${Object.keys(benchmarks).join(', ')}.`,
  );
  process.exitCode = 2;
} else {
  for (const [name, run] of Object.entries(benchmarks)) {
    if (requested.length === 0 || requested.includes(name)) await run();
  }
}
