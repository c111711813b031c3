import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Table from 'cli-table3';
import pg from 'pg';
import { leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { textPeer } from '../gateway/test-peers.ts';
import { deleteHome, makeHome } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { startVolley, volley } from '../support/volley.ts';
import { median } from './rounds.ts';

/** Delay of the service (milliseconds). */
const latencies = [0, 100];

/**
 * Measures how long an urgent run waits for its first request after it is queued, while a bulk run uses the whole
 * account, and how many bulk requests leave meanwhile. Each run is a command of its own. `BENCH_ROUNDS` (10) sets the
 * rounds.
 */
export async function benchPreempt(): Promise<void> {
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? '10');
  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home);
  await grantTestRights(lease.address);
  const { address } = lease;
  const server = urlOfServer(address);
  const table = new Table({
    head: [
      'service answers after',
      'first urgent request after, ms',
      'at most',
      'aim',
      'bulk requests meanwhile',
    ],
    style: { head: [], border: [] },
  });
  try {
    for (const latency of latencies) table.push(await measure(server, latency, rounds));
  } finally {
    await lease.release();
    deleteHome(home);
  }
  console.log(`preempt: an urgent run beside a bulk one on the same account, median of ${rounds}`);
  console.log(table.toString());
}

type Arrival = { readonly at: number; readonly urgent: boolean };

async function measure(server: string, latency: number, rounds: number): Promise<string[]> {
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE preempt_${latency}`);
  await client.end();
  const databaseUrl = `${server}/preempt_${latency}`;
  const arrivals: Arrival[] = [];
  const service = await textPeer((text, response) => {
    arrivals.push({ at: Date.now(), urgent: text.includes('"Reference":"urgent"') });
    const messageId = /"MessageID":"(\w+)"/.exec(text)?.[1] ?? '';
    setTimeout(() => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ Result: 'Success', MessageID: messageId }));
    }, latency);
  });
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  try {
    await writeCampaigns(folder, service.url);
    const env = {
      DATABASE_URL: databaseUrl,
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      BENCH_TOKEN: 'token-of-the-bench',
    };
    const surroundings = { cwd: folder, env };
    await volley(['db', 'migrate'], surroundings);
    const bulk = startVolley(['run', 'bulk.yaml', '--again'], surroundings);
    while (arrivals.length < 500) await sleep(5);
    const waits: number[] = [];
    const meanwhile: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = arrivals.length;
      const { code, stderr } = await volley(['run', 'urgent.yaml', '--again'], surroundings);
      if (code !== 0) throw new Error(stderr);
      const queuedAt = await lastQueuedAt(databaseUrl);
      const first = arrivals.findIndex(({ urgent }, index) => urgent && index >= before);
      waits.push((arrivals[first]?.at ?? Number.NaN) - queuedAt);
      meanwhile.push(arrivals.slice(before, first).filter(({ at }) => at >= queuedAt).length);
      const going = arrivals.length + 200;
      while (arrivals.length < going) await sleep(5);
    }
    bulk.process.kill('SIGKILL');
    await bulk.ended;
    const [middle, max] = [median(waits), Math.max(...waits)];
    return [
      `${latency} ms`,
      String(Math.round(middle)),
      String(Math.round(max)),
      '1000',
      String(median(meanwhile)),
    ];
  } finally {
    await service[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  }
}

/** Epoch milliseconds. */
async function lastQueuedAt(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ at: Date }>(`
      SELECT min(j.created_on) AS at
      FROM volley_queue.job j
      WHERE j.data ->> 'run' = (SELECT run_id FROM runs WHERE campaign = 'urgent' ORDER BY created_at DESC LIMIT 1)
    `);
    return rows[0]?.at.getTime() ?? Number.NaN;
  } finally {
    await client.end();
  }
}

async function writeCampaigns(folder: string, baseUrl: string): Promise<void> {
  await writeFile(
    join(folder, 'accounts.yaml'),
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
    await writeFile(join(folder, `${priority}.csv`), ['mobile', ...rows, ''].join('\n'));
    await writeFile(
      join(folder, `${priority}.yaml`),
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
