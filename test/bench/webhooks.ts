import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { z } from 'zod';
import { acceptAll } from '../support/accept-all.ts';
import { runStatement } from '../support/statement.ts';
import { startVolley } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { planRun } from './dispatch/volley.ts';
import { writeCampaign } from './dispatch/workload.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median, sizeFrom } from './rounds.ts';
import { type BenchServer, createDatabase, startServer } from './servers.ts';

/**
 * Measures delivery reports:
 *
 * - how many a warm `volley serve` commits per second, against a Fastify route that parses the same body and keeps nothing;
 * - how long answers take at half of that rate;
 * - how fast the inbox is applied, against one set-based UPDATE;
 * - whether a large run in the ledger slows that down.
 *
 * `BENCH_REPORTS` (100,000) sets the reports, `BENCH_ROUNDS` (3) the rounds, `BENCH_RECIPIENTS` (1,000,000) the large
 * run.
 */
export async function benchWebhooks(): Promise<void> {
  const reports = sizeFrom('BENCH_REPORTS', 100_000);
  const rounds = sizeFrom('BENCH_ROUNDS', 3);
  const large = sizeFrom('BENCH_RECIPIENTS', 1_000_000);
  await using server = await startServer();
  await using workspace = await makeWorkspace();
  const bench = await openWebhookBench(server, workspace);
  await acceptedRun(bench, reports);
  await printRounds(bench, reports, rounds, 'a ledger with this run alone');
  await acceptedRun(bench, large);
  const where = `a ledger with a run of ${grouped(large)} recipients beside it`;
  await printRounds(bench, reports, rounds, where);
}

export type WebhookBench = {
  readonly folder: string;
  readonly databaseUrl: string;
  /** Lines with MessageID and address of the recipients. */
  readonly file: string;
};

export async function openWebhookBench(
  server: Pick<BenchServer, 'url'>,
  { folder }: Workspace,
): Promise<WebhookBench> {
  const databaseUrl = await createDatabase(server, 'webhooks');
  return { folder, databaseUrl, file: join(folder, 'reports.jsonl') };
}

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
  await runStatement(databaseUrl, 'VACUUM ANALYZE');
  const known = await runStatement(
    databaseUrl,
    'SELECT count(DISTINCT run_id)::integer AS runs FROM request_states',
  );
  if (known[0]?.['runs'] !== 1) return;
  const rows = await runStatement(
    databaseUrl,
    `SELECT json_build_array(message_id, address)::text AS line
     FROM recipient_states
     ORDER BY md5(address)
     LIMIT ${recipients}`,
  );
  await writeFile(file, `${rows.map(({ line }) => line).join('\n')}\n`);
}

type Figures = { readonly perSecond: number; readonly median: number; readonly p99: number };

async function printRounds(
  bench: WebhookBench,
  reports: number,
  count: number,
  where: string,
): Promise<void> {
  const rounds = await inRounds(count, async () => {
    const bare = await withBare((url) => send(bench, url));
    await emptyInbox(bench);
    const volley = await withServe(bench, (url) => send(bench, url));
    await emptyInbox(bench);
    const paced = await withServe(bench, (url) => send(bench, url, volley.perSecond / 2));
    return { bare, volley, paced, ...(await applyAgain(bench)) };
  });
  type Round = (typeof rounds)[number];
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  const rate = (of: (round: Round) => number): string => grouped(Math.round(middle(of)));
  printTable(
    `webhooks: ${grouped(reports)} reports, median of ${count}, in ${where}`,
    ['', 'reports/s', 'ratio', 'aim'],
    [
      ['bare Fastify, nothing kept', rate(({ bare }) => bare.perSecond), '1.00', ''],
      [
        'volley serve, all committed, applying meanwhile',
        rate(({ volley }) => volley.perSecond),
        middle(({ bare, volley }) => volley.perSecond / bare.perSecond).toFixed(2),
        '0.55',
      ],
      [
        '  at half of that rate: p99 of the answer',
        rate(({ volley }) => volley.perSecond / 2),
        `${middle(({ paced }) => paced.p99).toFixed(0)} ms`,
        '50 ms',
      ],
      ['one set-based UPDATE of the outcomes', rate(({ updating }) => reports / updating), '1.00', ''],
      [
        'applying the inbox',
        rate(({ applying }) => reports / applying),
        (middle(({ updating }) => updating) / middle(({ applying }) => applying)).toFixed(2),
        '0.4',
      ],
    ],
  );
}

export async function send(
  { file }: Pick<WebhookBench, 'file'>,
  url: string,
  perSecond = 0,
): Promise<Figures> {
  const script = fileURLToPath(new URL('./webhooks/sender.ts', import.meta.url));
  const words = [script, url, `/webhook/bench/${token}`, file, String(perSecond)];
  const { stdout } = await promisify(execFile)(process.execPath, words);
  return z.object({ perSecond: z.number(), median: z.number(), p99: z.number() }).parse(JSON.parse(stdout));
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

/** @param work gets the address of `volley serve`, and its process id */
export async function withServe<Result>(
  { folder, databaseUrl }: Pick<WebhookBench, 'folder' | 'databaseUrl'>,
  work: (url: string, pid: number) => Promise<Result>,
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
    return await work(url, serve.process.pid ?? Number.NaN);
  } finally {
    serve.process.kill('SIGTERM');
    await serve.ended;
  }
}

export async function emptyInbox({ databaseUrl }: WebhookBench): Promise<void> {
  await runStatement(
    databaseUrl,
    'TRUNCATE inbox_blocks, inbox_waiting, unusual_delivery_reports, recipient_outcomes, folded_outcomes, folded_reports, billing_outcomes',
  );
  await runStatement(databaseUrl, 'CHECKPOINT');
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
  await runStatement(
    databaseUrl,
    `TRUNCATE inbox_waiting, unusual_delivery_reports, recipient_outcomes, folded_outcomes, folded_reports, billing_outcomes;
     INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes)
     SELECT first_received_at, first_report, first_report + calls - 1, calls, bytes
     FROM inbox_blocks
     ORDER BY first_report;`,
  );
  await runStatement(databaseUrl, 'VACUUM ANALYZE');
  await runStatement(databaseUrl, 'CHECKPOINT');
  const script = fileURLToPath(new URL('./webhooks/applier.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, databaseUrl]);
  const figures = applierFigures.parse(JSON.parse(stdout));
  if (figures.applied !== figures.updated)
    throw new Error(`applied ${figures.applied}, not ${figures.updated}`);
  return figures;
}
