import { setTimeout as sleep } from 'node:timers/promises';
import { answerSuccess, textPeer } from '../gateway/test-peers.ts';
import { runStatement } from '../support/statement.ts';
import { startVolley, volley } from '../support/volley.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { printTable } from './printing.ts';
import { inRounds, median, sizeFrom } from './rounds.ts';
import { type BenchServer, createDatabase, startServer } from './servers.ts';

/** Delay of the service (milliseconds). */
const latencies = [0, 100];

/**
 * Measures how long an urgent run waits for its first request after it is queued, while a bulk run uses the whole
 * account, and how many bulk requests leave meanwhile. Each run is a command of its own. `BENCH_ROUNDS` (10) sets the
 * rounds.
 */
export async function benchPreempt(): Promise<void> {
  const rounds = sizeFrom('BENCH_ROUNDS', 10);
  await using server = await startServer();
  const rows: string[][] = [];
  for (const latency of latencies) rows.push(await measureLatency(server, latency, rounds));
  printTable(
    `preempt: an urgent run beside a bulk one on the same account, median of ${rounds}`,
    ['service answers after', 'first urgent request after, ms', 'at most', 'aim', 'bulk requests meanwhile'],
    rows,
  );
}

type Arrival = { readonly at: number; readonly urgent: boolean };

async function measureLatency(server: BenchServer, latency: number, rounds: number): Promise<string[]> {
  const databaseUrl = await createDatabase(server, `preempt_${latency}`);
  const arrivals: Arrival[] = [];
  await using service = await textPeer((text, response) => {
    arrivals.push({ at: Date.now(), urgent: text.includes('"Reference":"urgent"') });
    const messageId = /"MessageID":"(\w+)"/.exec(text)?.[1] ?? '';
    setTimeout(() => answerSuccess(messageId, response), latency);
  });
  await using workspace = await makeWorkspace();
  await writeCampaigns(workspace, service.url);
  const env = {
    DATABASE_URL: databaseUrl,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    BENCH_TOKEN: 'token-of-the-bench',
  };
  const surroundings = { cwd: workspace.folder, env };
  await volley(['db', 'migrate'], surroundings);
  const bulk = startVolley(['run', 'bulk.yaml', '--again'], surroundings);
  while (arrivals.length < 500) await sleep(5);
  const measured = await inRounds(rounds, async () => {
    const before = arrivals.length;
    const { code, stderr } = await volley(['run', 'urgent.yaml', '--again'], surroundings);
    if (code !== 0) throw new Error(stderr);
    const queuedAt = await lastQueuedAt(databaseUrl);
    const first = arrivals.findIndex(({ urgent }, index) => urgent && index >= before);
    const meanwhile = arrivals.slice(before, first).filter(({ at }) => at >= queuedAt).length;
    const going = arrivals.length + 200;
    while (arrivals.length < going) await sleep(5);
    return { wait: (arrivals[first]?.at ?? Number.NaN) - queuedAt, meanwhile };
  });
  bulk.process.kill('SIGKILL');
  await bulk.ended;
  const waits = measured.map(({ wait }) => wait);
  return [
    `${latency} ms`,
    String(Math.round(median(waits))),
    String(Math.round(Math.max(...waits))),
    '1000',
    String(median(measured.map(({ meanwhile }) => meanwhile))),
  ];
}

/** Epoch milliseconds. */
async function lastQueuedAt(databaseUrl: string): Promise<number> {
  const [row] = await runStatement(
    databaseUrl,
    `SELECT 1000 * extract(epoch FROM min(j.created_on)) AS at
     FROM volley_queue.job j
     WHERE j.data ->> 'run' = (SELECT run_id FROM runs WHERE campaign = 'urgent' ORDER BY created_at DESC LIMIT 1)`,
  );
  return Number(row?.['at']);
}

async function writeCampaigns({ write }: Workspace, baseUrl: string): Promise<void> {
  await write(
    'accounts.yaml',
    `accounts:
  bench:
    interface: rest-2.02
    baseUrl: ${baseUrl}
    authToken: \${BENCH_TOKEN}
    limits: { concurrency: 16 }
`,
  );
  for (const { priority, contacts } of [
    { priority: 'bulk', contacts: 300_000 },
    { priority: 'urgent', contacts: 50 },
  ]) {
    const rows = Array.from({ length: contacts }, (_, row) => `+614${String(row).padStart(8, '0')}`);
    await write(`${priority}.csv`, ['mobile', ...rows, ''].join('\n'));
    await write(
      `${priority}.yaml`,
      `campaign: ${priority}
account: bench
channel: sms
contacts: { file: ${priority}.csv, country: AU, columns: { Recipient: mobile } }
message: { Reference: ${priority}, Message: Hello }
dispatch: { chunkSize: 1, concurrency: 16, priority: ${priority} }
`,
    );
  }
}
