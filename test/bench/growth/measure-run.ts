import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Started, startVolley } from '../../support/volley.ts';
import { startServe } from '../dashboard/serve.ts';
import { peakBytes, postgresSeconds, processSeconds } from '../dispatch/processor-time.ts';
import { costIn, printCost } from '../dispatch/rounds.ts';
import type { Service } from '../dispatch/start-service.ts';
import { type BenchWorkspace, environmentFor, startResume } from '../dispatch/volley.ts';
import { type Workload, writeCampaign } from '../dispatch/workload.ts';
import { median, timed } from '../rounds.ts';
import { listRecipients } from '../storage/list-recipients.ts';
import { startLater, waitUntilApplied } from '../storage/stages.ts';
import { send, withServe } from '../webhooks.ts';

/** Seconds elapsed, and of processor time; bytes of memory of the process of Volley at its peak. */
export type Use = {
  readonly seconds: number;
  readonly node: number;
  readonly postgres: number;
  readonly peakBytes: number;
};

/** What is done with a run. Those of `whole` take the same for a run of any size. */
export const phases = [
  'import',
  'dispatch',
  'reports',
  'billing',
  'status',
  'page',
  'resume',
  'purge',
] as const;
export type Phase = (typeof phases)[number];
export const whole: ReadonlySet<Phase> = new Set(['status', 'page', 'resume']);

export type RunUse = { readonly [phase in Phase]?: Use };

export type GrowthBench = {
  readonly workspace: BenchWorkspace;
  readonly service: Service;
  /** Process id of the Postgres server. */
  readonly postmaster: number;
};

type Options = { readonly reports: boolean; readonly purge: boolean };

/** Takes one run through all that is done with a run. */
export async function measureRun(
  bench: GrowthBench,
  workload: Workload,
  { reports, purge }: Options,
): Promise<RunUse & { readonly run: string }> {
  const { workspace } = bench;
  const { run, ...sent } = await measureSending(bench, workload);
  const reported = reports ? { reports: await measureReports(bench, workload, run) } : {};
  const measure = (words: readonly string[]): Promise<Use> =>
    measureCommand(bench, startVolley(words, { ...surroundings(workspace), nodeFlags: printCost }));
  return {
    run,
    ...sent,
    ...reported,
    billing: await measure(['billing', 'report', '--json']),
    status: await measure(['status', run, '--json']),
    page: await measurePage(bench, run),
    ...(purge && {
      purge: await measureCommand(
        bench,
        startLater(workspace, 400, ['purge', '--older-than', '1d', '--yes'], printCost),
      ),
    }),
  };
}

const surroundings = (workspace: BenchWorkspace) => ({
  cwd: workspace.folder,
  env: environmentFor(workspace),
});

async function measureCommand({ postmaster }: GrowthBench, { ended }: Started): Promise<Use> {
  const before = postgresSeconds(postmaster);
  const begun = performance.now();
  const { code, stderr } = await ended;
  if (code !== 0) throw new Error(`volley ended with ${code}: ${stderr}`);
  const { own, ...peak } = costIn(stderr);
  return {
    seconds: (performance.now() - begun) / 1000,
    node: own,
    postgres: postgresSeconds(postmaster) - before,
    ...peak,
  };
}

/** Of the requests of a run, how many `volley run` sends before it is stopped; `volley resume` sends the others. */
const sentByRun = 0.9;

/** `volley run` imports and sends in one process. It is stopped near its end, and resumed. */
async function measureSending(
  bench: GrowthBench,
  workload: Workload,
): Promise<Required<Pick<RunUse, 'import' | 'dispatch' | 'resume'>> & { readonly run: string }> {
  const { workspace, service } = bench;
  const campaign = await writeCampaign(workspace.folder, workload, service.url);
  const former = await newestRun(workspace);
  await service.begin();
  const meter = startMeter(bench);
  const started = startVolley(['run', campaign, '--again', '--json'], surroundings(workspace));
  const { pid = Number.NaN } = started.process;
  let run: string | undefined;
  while (run === undefined || run === former) {
    requireAlive(started);
    await sleep(20);
    run = await newestRun(workspace);
  }
  const imported = meter.read(pid);
  const share = Math.floor(workload.requests * sentByRun);
  while ((await service.received()).requests < share) {
    requireAlive(started);
    await sleep(20);
  }
  // Read before its end, because nothing is known of an ended process.
  const sent = meter.read(pid);
  started.process.kill('SIGTERM');
  await started.ended;
  await service.begin();
  const resuming = startMeter(bench);
  const resumed = startResume(run, workspace);
  const { pid: resumedPid = Number.NaN } = resumed.process;
  while ((await service.received()).requests === 0) {
    requireAlive(resumed);
    await sleep(2);
  }
  const first = resuming.read(resumedPid);
  const { code, stderr } = await resumed.ended;
  if (code !== 0) throw new Error(`volley resume ended with ${code}: ${stderr}`);
  const dispatch = {
    seconds: (sent.seconds - imported.seconds) / sentByRun,
    node: (sent.node - imported.node) / sentByRun,
    postgres: (sent.postgres - imported.postgres) / sentByRun,
    peakBytes: sent.peakBytes,
  };
  return { run, import: imported, dispatch, resume: first };
}

function requireAlive({ process: { exitCode }, stderrSoFar }: Started): void {
  if (exitCode !== null) throw new Error(`volley ended with ${exitCode}: ${stderrSoFar()}`);
}

/** Reads what a process has used since its start, and what Postgres has used since then. */
function startMeter({ postmaster }: GrowthBench) {
  const begun = performance.now();
  const before = postgresSeconds(postmaster);
  return {
    read: (pid: number): Use => ({
      seconds: (performance.now() - begun) / 1000,
      node: processSeconds(pid),
      postgres: postgresSeconds(postmaster) - before,
      peakBytes: peakBytes(pid),
    }),
  };
}

async function newestRun({ databaseUrl }: BenchWorkspace): Promise<string | undefined> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ run: string }>(
      'SELECT run_id AS run FROM runs ORDER BY created_at DESC LIMIT 1',
    );
    return rows[0]?.run;
  } finally {
    await client.end();
  }
}

/** All delivery reports over HTTP, until `volley serve` has applied them. */
async function measureReports(bench: GrowthBench, { recipients }: Workload, run: string): Promise<Use> {
  const { databaseUrl, folder } = bench.workspace;
  const file = `${folder}/reports.jsonl`;
  await listRecipients(databaseUrl, { run, chunk: recipients, file });
  return withServe(bench.workspace, async (url, pid) => {
    const meter = startMeter(bench);
    await send({ file }, url);
    await waitUntilApplied(databaseUrl, run);
    return meter.read(pid);
  });
}

/** Requests of a page. The first one is not counted. */
const pageRequests = 6;

async function measurePage(bench: GrowthBench, run: string): Promise<Use> {
  const serve = await startServe(bench);
  try {
    const ask = async (): Promise<void> => {
      const { status } = await serve.visitor.get(`/runs/${run}`);
      if (status !== 200) throw new Error(`the page answers ${status}`);
    };
    await ask();
    const before = startMeter(bench);
    const nodeBefore = processSeconds(serve.pid);
    const times: number[] = [];
    while (times.length + 1 < pageRequests) times.push(await timed(ask));
    const { node, postgres, ...after } = before.read(serve.pid);
    return {
      ...after,
      seconds: median(times) / 1000,
      node: (node - nodeBefore) / times.length,
      postgres: postgres / times.length,
    };
  } finally {
    await serve.stop();
  }
}
