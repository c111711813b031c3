import { makeWorkspace } from '../support/workspace.ts';
import { measureResumes } from './dispatch/resume.ts';
import { type Bench, type Cost, measureRound, type Round } from './dispatch/rounds.ts';
import { type Service, startService } from './dispatch/start-service.ts';
import { concurrency, encodeRequests, type Workload, writeCampaign } from './dispatch/workload.ts';
import { grouped, printTable } from './printing.ts';
import { inRounds, median, sizeFrom } from './rounds.ts';
import { type BenchServer, createDatabase, startServer } from './servers.ts';

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
  const requests = sizeFrom('BENCH_REQUESTS', 100_000);
  const rounds = sizeFrom('BENCH_ROUNDS', 3);
  await using server = await startServer();
  await using service = await startService();
  const single = { requests, recipients: 1 };
  const chunked = { requests: Math.ceil(requests / 20), recipients: 200 };
  await inBench(server, service, single, async (bench) => printRounds(bench, rounds, '0.7'));
  await inBench(server, service, chunked, async (bench) => {
    await printRounds(bench, rounds, '0.6');
    await printResumes(bench);
  });
}

/** Each workload has a database and a folder of its own. */
export async function inBench(
  server: BenchServer,
  service: Service,
  workload: Workload,
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  await using workspace = await makeWorkspace();
  const { folder } = workspace;
  await work({
    workload,
    bodyBytes: encodeRequests(workload).reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0),
    campaign: await writeCampaign(folder, workload, service.url),
    workspace: { folder, databaseUrl: await createDatabase(server, `bench_${workload.recipients}`) },
    service,
    postmaster: server.postmaster,
  });
}

async function printRounds(bench: Bench, count: number, aim: string): Promise<void> {
  const rounds = await inRounds(count, () => measureRound(bench));
  const peak = Math.max(...rounds.map(({ volley }) => volley.peakBytes)) / 1024 / 1024;
  const { requests, recipients } = bench.workload;
  const row = (name: string, turnOf: (round: Round) => Cost, aim = '', peak = ''): string[] => {
    const seconds = median(rounds.map((round) => turnOf(round).seconds));
    const ratio = median(rounds.map((round) => round.bare.seconds / turnOf(round).seconds));
    const rate = grouped(Math.round(requests / seconds));
    const processor = (['own', 'postgres', 'service'] as const).map((part) => {
      const used = median(rounds.map((round) => turnOf(round).processor[part]));
      return String(Math.round((used / requests) * 1e6));
    });
    return [name, seconds.toFixed(2), rate, ratio.toFixed(2), aim, processor.join(' + '), peak];
  };
  printTable(
    `dispatch: ${grouped(requests)} requests with ${recipients} each, ${concurrency} at once, median of ${count}; processor: own + Postgres + service. Bodies are prepared, except for peers that "write each body" and for volley, which also reads the requests`,
    ['', 'seconds', 'requests/s', 'of bare', 'aim', 'processor, µs/request', 'peak'],
    [
      row('bare request of undici, nothing recorded', ({ bare }) => bare),
      row('bare dispatch of undici', ({ dispatching }) => dispatching),
      row('p-limit, INSERT for each answer', ({ inserting }) => inserting),
      row('pg-boss, job for each request', ({ boss }) => boss),
      row('p-limit, writes each body', ({ written }) => written.inserting),
      row('pg-boss, writes each body', ({ written }) => written.boss),
      row('volley, from its first request', ({ volley }) => volley, aim, `${Math.round(peak)} MiB`),
      row(
        'volley, with the start of its process',
        ({ volley }) => ({ ...volley, seconds: volley.wholeSeconds }),
        '',
        'aim: 200',
      ),
    ],
  );
}

async function printResumes(bench: Bench): Promise<void> {
  const { node, version, firstRequest } = await measureResumes(bench);
  const row = (name: string, milliseconds: readonly number[], aim = ''): string[] => [
    name,
    String(Math.round(median(milliseconds))),
    aim,
  ];
  const { requests, recipients } = bench.workload;
  printTable(
    `resume: a run of ${grouped(requests * recipients)} recipients, killed in its middle`,
    ['start of a process', 'ms', 'aim'],
    [
      row('node -e 0', node),
      row('volley --version', version),
      row('volley resume, to its first request', firstRequest, '1000'),
    ],
  );
}
