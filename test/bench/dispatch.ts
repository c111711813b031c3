import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import pg from 'pg';
import { embeddedServerStatus, leaseEmbeddedServer } from '../../src/platform/embedded-postgres.ts';
import { deleteHome, makeHome } from '../support/embedded-home.ts';
import { grantTestRights, urlOfServer } from '../support/server-rights.ts';
import { measureResumes } from './dispatch/resume.ts';
import { type Bench, type Cost, measureRound, type Round } from './dispatch/rounds.ts';
import { startService } from './dispatch/start-service.ts';
import { concurrency, encodeRequests, type Workload, writeCampaign } from './dispatch/workload.ts';
import { median } from './rounds.ts';

/**
 * Measures a planned run from its first request until it is completed. The peers send the same bodies to the same
 * service:
 *
 * - a loop that records nothing;
 * - p-limit with an INSERT for each answer, and pg-boss with a job for each request;
 * - these two again, but each writes the bodies from the recipients.
 *
 * Each peer is a process of its own, with the same Postgres at its default settings. Processor time is measured too,
 * because other work on the machine disturbs it less. `BENCH_REQUESTS` (100,000) sets the number of requests; chunks
 * of 200 have ten times as many recipients. `BENCH_ROUNDS` (3) sets the rounds.
 */
export async function benchDispatch(): Promise<void> {
  const requests = Number(process.env['BENCH_REQUESTS'] ?? '100000');
  const rounds = Number(process.env['BENCH_ROUNDS'] ?? '3');
  const single = { requests, recipients: 1 };
  const chunked = { requests: Math.ceil(requests / 20), recipients: 200 };

  const home = makeHome('volley-bench-');
  const lease = await leaseEmbeddedServer(home);
  await grantTestRights(lease.address);
  const status = embeddedServerStatus(home);
  const tools = {
    service: await startService(),
    postmaster: status.state === 'running' ? status.pid : Number.NaN,
  };
  const { address } = lease;
  const server = urlOfServer(address);
  try {
    await inBench(server, tools, single, async (bench) => printRounds(bench, rounds, '0.7'));
    await inBench(server, tools, chunked, async (bench) => {
      await printRounds(bench, rounds, '0.6');
      await printResumes(bench);
    });
  } finally {
    tools.service.stop();
    await lease.release();
    deleteHome(home);
  }
}

/** Each workload has a database and a folder of its own. */
export async function inBench(
  server: string,
  tools: Pick<Bench, 'service' | 'postmaster'>,
  workload: Workload,
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  const database = `bench_${workload.recipients}`;
  const client = new pg.Client({ connectionString: `${server}/postgres` });
  await client.connect();
  await client.query(`CREATE DATABASE ${database}`);
  await client.end();
  const folder = await mkdtemp(join(tmpdir(), 'volley-bench-'));
  try {
    await work({
      workload,
      bodyBytes: encodeRequests(workload).reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0),
      campaign: await writeCampaign(folder, workload, tools.service.url),
      workspace: { folder, databaseUrl: `${server}/${database}` },
      ...tools,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function printRounds(bench: Bench, count: number, aim: string): Promise<void> {
  const rounds: Round[] = [];
  for (let round = 0; round < count; round++) rounds.push(await measureRound(bench));

  const { requests, recipients } = bench.workload;
  const table = new Table({
    head: ['', 'seconds', 'requests/s', 'of bare', 'aim', 'processor, µs/request', 'peak'],
    style: { head: [], border: [] },
  });
  const row = (name: string, turnOf: (round: Round) => Cost, aim = '', peak = ''): void => {
    const seconds = median(rounds.map((round) => turnOf(round).seconds));
    const ratio = median(rounds.map((round) => round.bare.seconds / turnOf(round).seconds));
    const rate = Math.round(requests / seconds).toLocaleString('en');
    const processor = (['own', 'postgres', 'service'] as const).map((part) => {
      const used = median(rounds.map((round) => turnOf(round).processor[part]));
      return String(Math.round((used / requests) * 1e6));
    });
    table.push([name, seconds.toFixed(2), rate, ratio.toFixed(2), aim, processor.join(' + '), peak]);
  };
  const peak = Math.max(...rounds.map(({ volley }) => volley.peakBytes)) / 1024 / 1024;
  row('bare request of undici, nothing recorded', ({ bare }) => bare);
  row('bare dispatch of undici', ({ dispatching }) => dispatching);
  row('p-limit, INSERT for each answer', ({ inserting }) => inserting);
  row('pg-boss, job for each request', ({ boss }) => boss);
  row('p-limit, writes each body', ({ written }) => written.inserting);
  row('pg-boss, writes each body', ({ written }) => written.boss);
  row('volley, from its first request', ({ volley }) => volley, aim, `${Math.round(peak)} MiB`);
  row(
    'volley, with the start of its process',
    ({ volley }) => ({ ...volley, seconds: volley.wholeSeconds }),
    '',
    'aim: 200',
  );
  console.log(
    `dispatch: ${requests.toLocaleString('en')} requests with ${recipients} each, ${concurrency} at once, median of ${count}; processor: own + Postgres + service. Bodies are prepared, except for peers that "write each body" and for volley, which also reads the requests`,
  );
  console.log(table.toString());
}

async function printResumes(bench: Bench): Promise<void> {
  const { node, version, firstRequest } = await measureResumes(bench);
  const table = new Table({ head: ['start of a process', 'ms', 'aim'], style: { head: [], border: [] } });
  const row = (name: string, milliseconds: readonly number[], aim = ''): void => {
    table.push([name, String(Math.round(median(milliseconds))), aim]);
  };
  row('node -e 0', node);
  row('volley --version', version);
  row('volley resume, to its first request', firstRequest, '1000');
  const { requests, recipients } = bench.workload;
  console.log(
    `resume: a run of ${(requests * recipients).toLocaleString('en')} recipients, killed in its middle`,
  );
  console.log(table.toString());
}
