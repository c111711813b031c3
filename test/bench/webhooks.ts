import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import pg from 'pg';
import { z } from 'zod';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { acceptAll } from '../support/accept-all.ts';
import { deleteHome, makeHome } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { startVolley } from '../support/volley.ts';
import { planRun } from './dispatch/volley.ts';
import { writeCampaign } from './dispatch/workload.ts';
import { median } from './rounds.ts';

/**
 * Measures delivery reports:
 *
 * - how many `volley serve` commits per second, against a Fastify route that parses the same body and keeps nothing;
 * - how long answers take at half of that rate;
 * - how fast the inbox is applied, against one set-based UPDATE;
 * - whether a large run in the ledger slows that down.
 *
 * `BENCH_REPORTS` (100,000) sets the reports, `BENCH_ROUNDS` (3) the rounds, `BENCH_RECIPIENTS` (1,000,000) the large
 * run.
 */
export async function benchWebhooks(): Promise<void> {
  const reports = Number(process.env['BENCH_REPORTS'] ?? '100000');
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? '3');
  const large = Number(process.env['BENCH_RECIPIENTS'] ?? '1000000');
  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home);
  await grantTestRights(lease.address);
  const { address } = lease;
  const server = urlOfServer(address);
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  const bench: WebhookBench = { folder, databaseUrl: `${server}/bench`, file: join(folder, 'reports.jsonl') };
  try {
    await query(`${server}/postgres`, 'CREATE DATABASE bench');
    await acceptedRun(bench, reports);
    await printTable(bench, reports, rounds, 'a ledger with this run alone');
    await acceptedRun(bench, large);
    await printTable(
      bench,
      reports,
      rounds,
      `a ledger with a run of ${large.toLocaleString('en')} recipients beside it`,
    );
  } finally {
    await rm(folder, { recursive: true });
    await lease.release();
    deleteHome(home);
  }
}

export type WebhookBench = {
  readonly folder: string;
  readonly databaseUrl: string;
  /** Lines with MessageID and address of the recipients. */
  readonly file: string;
};

/** An accepted run in chunks of 200. Only the first one gets reports. */
export async function acceptedRun(
  { folder, databaseUrl, file }: WebhookBench,
  recipients: number,
): Promise<void> {
  const workload = { requests: Math.ceil(recipients / 200), recipients: 200 };
  const campaign = await writeCampaign(folder, workload, 'http://127.0.0.1:9');
  const run = await planRun(campaign, { folder, databaseUrl });
  const pool = new pg.Pool({ connectionString: databaseUrl });
  await acceptAll(pool, run).finally(() => pool.end());
  await query(databaseUrl, 'VACUUM ANALYZE');
  const known = await query(
    databaseUrl,
    'SELECT count(DISTINCT run_id)::integer AS runs FROM request_states',
  );
  if (known[0]?.['runs'] !== 1) return;
  const rows = await query(
    databaseUrl,
    `SELECT json_build_array(message_id, address)::text AS line
     FROM recipient_states
     ORDER BY md5(address)
     LIMIT ${recipients}`,
  );
  await writeFile(file, `${rows.map(({ line }) => line).join('\n')}\n`);
}

type Figures = { readonly seconds: number; readonly median: number; readonly p99: number };

async function printTable(
  bench: WebhookBench,
  reports: number,
  rounds: number,
  where: string,
): Promise<void> {
  const bare: Figures[] = [];
  const volley: Figures[] = [];
  const paced: Figures[] = [];
  const applied: { readonly applying: number; readonly updating: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    bare.push(await withBare((url) => send(bench, url)));
    await emptyInbox(bench);
    const received = await withServe(bench, (url) => send(bench, url));
    volley.push(received);
    await emptyInbox(bench);
    paced.push(await withServe(bench, (url) => send(bench, url, reports / received.seconds / 2)));
    applied.push(await applyAgain(bench));
  }
  const seconds = (figures: readonly Figures[]): number => median(figures.map((each) => each.seconds));
  const ratio = median(bare.map((each, round) => each.seconds / (volley[round]?.seconds ?? Number.NaN)));
  const table = new Table({ head: ['', 'reports/s', 'ratio', 'aim'], style: { head: [], border: [] } });
  const rate = (time: number): string => Math.round(reports / time).toLocaleString('en');
  table.push(['bare Fastify, nothing kept', rate(seconds(bare)), '1.00', '']);
  table.push([
    'volley serve, all committed, applying meanwhile',
    rate(seconds(volley)),
    ratio.toFixed(2),
    '0.55',
  ]);
  const p99 = median(paced.map((each) => each.p99));
  table.push([
    '  at half of that rate: p99 of the answer',
    rate(seconds(paced)),
    `${p99.toFixed(0)} ms`,
    '100 ms',
  ]);
  const update = median(applied.map((each) => each.updating));
  const apply = median(applied.map((each) => each.applying));
  table.push(['one set-based UPDATE of the outcomes', rate(update), '1.00', '']);
  table.push(['applying the inbox', rate(apply), (update / apply).toFixed(2), '0.3']);
  console.log(`webhooks: ${reports.toLocaleString('en')} reports, median of ${rounds}, in ${where}`);
  console.log(table.toString());
}

export async function send({ file }: WebhookBench, url: string, perSecond = 0): Promise<Figures> {
  const script = fileURLToPath(new URL('./webhooks/sender.ts', import.meta.url));
  const words = [script, url, `/webhook/bench/${token}`, file, String(perSecond)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return z.object({ seconds: z.number(), median: z.number(), p99: z.number() }).parse(JSON.parse(stdout));
}

const token = 'token-of-the-bench-that-is-long-enough';

async function withBare<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./webhooks/bare.ts', import.meta.url))]);
  const [output]: unknown[] = await once(child.stderr, 'data');
  const url = /http:\S+/.exec(String(output))?.[0] ?? '';
  try {
    return await work(url);
  } finally {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
}

export async function withServe<Result>(
  { folder, databaseUrl }: WebhookBench,
  work: (url: string) => Promise<Result>,
): Promise<Result> {
  const accounts = `accounts:\n  bench:\n    interface: rest-2.02\n    baseUrl: http://127.0.0.1:9\n    authToken: \${BENCH_TOKEN}\n    webhookToken: \${BENCH_WEBHOOK}\n`;
  await writeFile(join(folder, 'serve.yaml'), accounts);
  const env = {
    DATABASE_URL: databaseUrl,
    VOLLEY_ACCOUNTS: 'serve.yaml',
    BENCH_TOKEN: token,
    BENCH_WEBHOOK: token,
  };
  const serve = startVolley(['serve', '--no-api', '--port', '0'], { cwd: folder, env });
  await serve.waitForText('/webhook/bench/');
  const url = /(http:\/\/127\.0\.0\.1:\d+)\/webhook/.exec(serve.stderrSoFar())?.[1] ?? '';
  try {
    return await work(url);
  } finally {
    serve.process.kill('SIGTERM');
    await serve.ended;
  }
}

export async function emptyInbox({ databaseUrl }: WebhookBench): Promise<void> {
  await query(
    databaseUrl,
    'TRUNCATE inbox, inbox_queue, unusual_delivery_reports, recipient_outcomes, billing_outcomes',
  );
  await query(databaseUrl, 'CHECKPOINT');
  await sleep(500);
}

const applierFigures = z.object({
  applied: z.number(),
  applying: z.number(),
  updated: z.number(),
  updating: z.number(),
});

/** Applies the last reports again. */
export async function applyAgain({ databaseUrl }: WebhookBench) {
  await query(
    databaseUrl,
    `TRUNCATE inbox_queue, unusual_delivery_reports, recipient_outcomes, billing_outcomes;
     INSERT INTO inbox_queue (due_at, report_ids, bytes)
     SELECT min(received_at), array_agg(report_id), sum(octet_length(body))
     FROM inbox
     GROUP BY report_id / 256;`,
  );
  await query(databaseUrl, 'VACUUM ANALYZE');
  await query(databaseUrl, 'CHECKPOINT');
  const script = fileURLToPath(new URL('./webhooks/applier.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, databaseUrl]);
  const figures = applierFigures.parse(JSON.parse(stdout));
  if (figures.applied !== figures.updated)
    throw new Error(`applied ${figures.applied}, not ${figures.updated}`);
  return figures;
}

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}
